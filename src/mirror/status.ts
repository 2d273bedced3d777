import { setImmediate as nextTurn } from 'node:timers/promises'
import { EXCHANGE_INTERVALS } from '../klines/intervals.js'
import { windowPath } from '../klines/paths.js'
import { type Series, windowOf } from '../klines/series.js'
import type { Mirror } from './mirror.js'
import { EMPTY_WINDOW_BYTES } from './mirror-contents.js'

/** The cached windows of a series, by file size: no file is read. */
export interface SeriesStatus extends Series {
  readonly windows: number
  /** Windows without candles. */
  readonly empty: number
  readonly cachedBytes: number
  /** First and last startDate whose window has candles. */
  readonly firstStartDate: string | undefined
  readonly lastStartDate: string | undefined
}

/** The same with open times of the first and the last candle, ms UTC. */
export interface CandleStatus extends SeriesStatus {
  readonly firstOpenTime: number | undefined
  readonly lastOpenTime: number | undefined
}

/** The status of each series with at least one cached window, symbol by symbol. Two windows of each are read. */
export async function seriesStatuses(mirror: Mirror, signal?: AbortSignal): Promise<CandleStatus[]> {
  const statuses: CandleStatus[] = []
  for (const status of unreadStatuses(mirror)) {
    await nextTurn()
    signal?.throwIfAborted()
    const { firstStartDate, lastStartDate } = status
    const endsOf = (startDate: string | undefined) => {
      const read = startDate === undefined ? undefined : mirror.windows.readInPlace(windowOf(status, startDate))
      // The next one is read into the same memory.
      return read?.state === 'cached' ? [read.batch.firstOpenTime, read.batch.lastOpenTime] : []
    }
    const [firstOpenTime] = endsOf(firstStartDate)
    statuses.push({ ...status, firstOpenTime, lastOpenTime: endsOf(lastStartDate)[1] })
  }
  return statuses
}

/** The size of the windows of a mirror, bytes. */
export function seriesBytes(mirror: Mirror): number {
  return unreadStatuses(mirror).reduce((sum, { cachedBytes }) => sum + cachedBytes, 0)
}

function unreadStatuses(mirror: Mirror): SeriesStatus[] {
  return mirror.contents
    .symbols()
    .flatMap(symbol => EXCHANGE_INTERVALS.map(interval => seriesStatus(mirror, { symbol, interval })))
    .filter(({ windows }) => windows > 0)
}

/** The status of one series, cached or not. */
export function seriesStatus(mirror: Mirror, series: Series): SeriesStatus {
  const sizes = mirror.contents
    .startDates(series)
    .map(startDate => ({ startDate, bytes: mirror.files.size(windowPath(windowOf(series, startDate))) }))
  const populated = sizes.filter(({ bytes }) => bytes > EMPTY_WINDOW_BYTES)
  return {
    symbol: series.symbol,
    interval: series.interval,
    windows: sizes.length,
    empty: sizes.length - populated.length,
    cachedBytes: sizes.reduce((sum, file) => sum + file.bytes, 0),
    firstStartDate: populated.at(0)?.startDate,
    lastStartDate: populated.at(-1)?.startDate,
  }
}
