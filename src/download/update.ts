import { KlinesError } from '../klines/errors.js'
import { EXCHANGE_INTERVALS } from '../klines/intervals.js'
import { windowOf } from '../klines/series.js'
import { sortSymbols } from '../klines/symbols.js'
import { windowSpan } from '../klines/windows.js'
import { type DownloadRequest, downloadPlan } from './download.js'
import { type Plan, planSeries } from './plan.js'
import { requestRange } from './request-range.js'
import { openMirror, openSource } from './sources/open-source.js'
import type { ServiceSource } from './sources/service-source.js'
import type { DownloadReport } from './tally.js'

/** How a mirror is updated: its series are those that are there or were. */
export type MirrorUpdateRequest = Omit<DownloadRequest, 'symbols' | 'intervals' | 'from' | 'to' | 'last'>

/**
 * Downloads what every series that a mirror has or had lacks or can still change, from its first cached window (of a series without any,
 * from its first candle on record) to now. Throws what `downloadKlines` throws, and `window_missing` for a mirror without a series.
 */
export async function updateMirror(request: MirrorUpdateRequest): Promise<DownloadReport> {
  const source = await openSource(request)
  try {
    return await downloadPlan(source, await planUpdate(source, request), request)
  } finally {
    await source.close()
  }
}

/** The windows of that. */
export async function planUpdate(source: ServiceSource, request: MirrorUpdateRequest): Promise<Plan> {
  const mirror = openMirror(request)
  // Also those of which every file is lost.
  const symbols = sortSymbols([...mirror.contents.symbols(), ...mirror.record.symbols])
  const ranges = symbols.flatMap(symbol =>
    EXCHANGE_INTERVALS.flatMap(interval => {
      const series = { symbol, interval }
      const [first] = mirror.contents.startDates(series)
      const fromTime =
        first === undefined
          ? mirror.record.seriesCandles(series)?.firstOpenTime
          : windowSpan(windowOf(series, first)).startTime
      return fromTime === undefined ? [] : { series, range: { fromTime, toTime: Infinity } }
    }),
  )
  if (ranges.length === 0) {
    throw new KlinesError('window_missing', `The mirror ${mirror.root} has no series yet.`, {
      suggestions: ['Download some first: klines download BTCUSDT -i 1h'],
    })
  }
  await source.prepare()
  return {
    range: await requestRange({ now: request.now }, source),
    series: await planSeries(source, ranges),
  }
}
