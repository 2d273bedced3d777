import type { FittedCandles } from '../../chart/chart-candle.js'
import { candlesBesideLabels, candlesThatFit } from '../../chart/terminal/layout.js'
import type { ProgressCallbacks } from '../../download/tally.js'
import { isKlinesError } from '../../klines/errors.js'
import type { Series } from '../../klines/series.js'
import { CandleLoader, type ChartRequest } from './candle-loader.js'

/** Candles to draw, and the loader that they came from. */
export interface LoadedCharts {
  readonly loader: CandleLoader
  readonly charts: readonly FittedCandles<Series>[]
  /** Why the service could not be reached; undefined when it was, or when it need not be. */
  readonly failure: string | undefined
}

/** What decides how many candles fit: the columns of a terminal, or the number itself. */
export type ChartSize = { readonly width: number; readonly log: boolean } | { readonly maxCandles: number }

/** As many candles as fit beside their own labels: where prices are long, they are read again, from the cache. */
export async function loadToFit(
  loader: CandleLoader,
  size: ChartSize,
  callbacks?: ProgressCallbacks,
): Promise<FittedCandles<Series>[]> {
  if ('maxCandles' in size) return loader.load(size.maxCandles, callbacks)
  const charts = await loader.load(candlesThatFit(size.width), callbacks)
  const room = Math.min(...charts.map(chart => candlesBesideLabels(chart, size)))
  return charts.some(({ slots }) => slots.length > room) ? loader.load(room) : charts
}

/**
 * Loads the candles of charts. When the service cannot be reached, they are what is cached. Throws `unreachable` or
 * `rate_limited` when nothing is, and what `CandleLoader` throws. The caller closes the loader.
 */
export async function loadCharts(
  request: ChartRequest,
  size: ChartSize,
  callbacks?: ProgressCallbacks,
): Promise<LoadedCharts> {
  try {
    return await load(request, size, callbacks)
  } catch (error) {
    const isAway = isKlinesError(error, 'unreachable') || isKlinesError(error, 'rate_limited')
    if (request.offline || !isAway) throw error
    const cached = await loadCached(request, size)
    if (cached === undefined) throw error
    return { ...cached, failure: error.message }
  }
}

async function load(request: ChartRequest, size: ChartSize, callbacks?: ProgressCallbacks): Promise<LoadedCharts> {
  const loader = await CandleLoader.open(request)
  try {
    return { loader, charts: await loadToFit(loader, size, callbacks), failure: undefined }
  } catch (error) {
    await loader.close()
    throw error
  }
}

/** Undefined when nothing of the request is cached. */
async function loadCached(request: ChartRequest, size: ChartSize): Promise<LoadedCharts | undefined> {
  try {
    return await load({ ...request, offline: true, cachedOnly: true }, size)
  } catch (error) {
    const isNothing = ['window_missing', 'no_candles', 'unknown_symbol'].some(code =>
      isKlinesError(error, code as never),
    )
    if (isNothing) return undefined
    throw error
  }
}
