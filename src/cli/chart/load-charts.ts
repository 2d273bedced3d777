import type { FittedCandles } from '../../chart/chart-candle.js'
import { candlesBesideLabels, candlesThatFit } from '../../chart/terminal/layout.js'
import type { EventOptions } from '../../download/events.js'
import { type ErrorCode, isKlinesError } from '../../klines/errors.js'
import type { Series } from '../../klines/series.js'
import { CandleLoader, type ChartRequest } from './candle-loader.js'

/** Candles to draw, and the loader that they came from. */
export interface LoadedCharts {
  readonly loader: CandleLoader
  readonly charts: readonly FittedCandles<Series>[]
  /** Why the service could not be reached; undefined when it was, or when it need not be. */
  readonly failure: string | undefined
}

/** How many candles a chart has room for. */
export interface ChartRoom {
  /** At the most. */
  readonly candles: number
  /** Beside the labels of these candles, which may be long. */
  readonly besideLabels: (chart: FittedCandles) => number
}

/** The room of a chart of `width` columns in a terminal. */
export function terminalRoom(size: { readonly width: number; readonly log: boolean }): ChartRoom {
  return { candles: candlesThatFit(size.width), besideLabels: chart => candlesBesideLabels(chart, size) }
}

/** As many candles as there is room for: where prices are long, they are read again, from the cache. */
async function loadToFit(
  loader: CandleLoader,
  { candles, besideLabels }: ChartRoom,
  events?: EventOptions,
): Promise<FittedCandles<Series>[]> {
  const charts = await loader.load(candles, events)
  const room = Math.min(...charts.map(besideLabels))
  return charts.some(({ slots }) => slots.length > room) ? loader.load(room) : charts
}

/**
 * Loads the candles of charts. When the service cannot be reached, they are what is cached. Throws `unreachable` or
 * `rate_limited` when nothing is, and what `CandleLoader` throws. The caller closes the loader.
 */
export async function loadCharts(request: ChartRequest, room: ChartRoom, events?: EventOptions): Promise<LoadedCharts> {
  try {
    return await load(request, room, events)
  } catch (error) {
    const isAway = isKlinesError(error, 'unreachable') || isKlinesError(error, 'rate_limited')
    if (request.offline || !isAway) throw error
    const cached = await loadCached(request, room)
    if (cached === undefined) throw error
    return { ...cached, failure: error.message }
  }
}

async function load(request: ChartRequest, room: ChartRoom, events?: EventOptions): Promise<LoadedCharts> {
  const loader = await CandleLoader.open(request)
  try {
    return { loader, charts: await loadToFit(loader, room, events), failure: undefined }
  } catch (error) {
    await loader.close()
    throw error
  }
}

/** What an offline request throws when nothing of it is cached. */
const NOTHING: readonly ErrorCode[] = ['window_missing', 'no_candles', 'unknown_symbol']

/** Undefined when nothing of the request is cached. */
async function loadCached(request: ChartRequest, room: ChartRoom): Promise<LoadedCharts | undefined> {
  try {
    return await load({ ...request, offline: true, cachedOnly: true }, room)
  } catch (error) {
    if (isKlinesError(error) && NOTHING.includes(error.code)) return undefined
    throw error
  }
}
