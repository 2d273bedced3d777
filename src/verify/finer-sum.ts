import type { MirrorSourceContents } from '../download/sources/mirror-source-contents.js'
import { compareSeries, type Difference } from '../klines/audit/compare-series.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { mayBeOffGrid } from '../klines/candle-times.js'
import { COLUMNS } from '../klines/columns.js'
import { isKlinesError } from '../klines/errors.js'
import { EXCHANGE_INTERVALS, type Interval, nextOpenTime } from '../klines/intervals.js'
import { CandleTable } from '../klines/kernel/candle-table.js'
import { Kernel } from '../klines/kernel/kernel.js'
import { buildSeriesGrid } from '../klines/resample/candle-grid.js'
import { isMultiple, toTarget } from '../klines/resample/target-interval.js'
import type { Series } from '../klines/series.js'
import { type WindowSpan, windowSpan } from '../klines/windows.js'
import type { Mirror } from '../mirror/mirror.js'
import { CachedSeries } from './cached-series.js'

/** What the cached candles of a finer interval add up to. */
export interface FinerSum {
  readonly interval: Interval
  readonly candles: number
  /** The exact sum: its 12 cells as text; undefined without candles. */
  readonly cells: readonly string[] | undefined
  /** The cells in which the candle differs; undefined when they were not compared. */
  readonly differences: readonly Difference[] | undefined
  /** Why they were not compared, as text. */
  readonly reason: string | undefined
}

/** A candle of a series, or the place of one that is not there. */
export interface CandlePlace extends WindowSpan {
  readonly series: Series
  /** Its row, in a batch of one. */
  readonly candle: KlineBatch | undefined
}

/**
 * Adds up the candles of each finer interval that the mirror has of the symbol, the finest first, and compares them with the candle.
 * Throws `mirror_unusable`.
 */
export async function sumFiner(
  mirror: Mirror,
  contents: MirrorSourceContents,
  place: CandlePlace,
): Promise<FinerSum[]> {
  const { symbol, interval } = place.series
  const finer = EXCHANGE_INTERVALS.map(interval => ({ symbol, interval })).filter(
    series => isMultiple(toTarget(interval), series.interval) && contents.hasSeries(series),
  )
  const kernel = new Kernel()
  const sums: FinerSum[] = []
  for (const series of finer) {
    const cached = await CachedSeries.open(mirror, contents, series)
    const read = readParts(mirror, cached, series, place)
    if (typeof read === 'string') sums.push({ ...NOT_COMPARED, interval: series.interval, reason: read })
    else sums.push(addUp(read, series.interval, place, kernel))
  }
  return sums
}

const NOT_COMPARED = { candles: 0, cells: undefined, differences: undefined }

/** The candles of a finer series in the time of a longer one; a text that says why they are not all known. */
function readParts(
  mirror: Mirror,
  cached: CachedSeries,
  series: Series,
  { startTime, endTime }: WindowSpan,
): KlineBatch[] | string {
  const [first, last] = [cached.indexAt(startTime), cached.indexAt(endTime - 1)]
  if (first < 0) return `its windows begin ${cached.startDates[0]}`
  const parts: KlineBatch[] = []
  for (let index = first; index <= last; index++) {
    const window = cached.window(index)
    const read = cached.read(index)
    if (read.state === 'missing') return `window ${window.startDate} is not cached`
    if (read.state === 'corrupt') return `window ${window.startDate} is corrupt`
    if (read.state === 'empty') continue
    const until = Math.min(endTime, windowSpan(window).endTime)
    const reached =
      read.batch.lastOpenTime === undefined ? -Infinity : nextOpenTime(series.interval, read.batch.lastOpenTime)
    if (reached < until && mirror.windows.settledUntil(window, read) < until && cached.firstFrom(until) === undefined)
      return `window ${window.startDate} may lack its newest candles`
    parts.push(read.batch.slice(startTime, endTime))
  }
  const grid = buildSeriesGrid(series, parts.find(({ length }) => length > 0)?.openTime(0))
  const isOffGrid = parts.some(part =>
    Array.from({ length: part.length }, (_, row) => part.openTime(row)).some(
      time => mayBeOffGrid(time) && grid.offset(time) !== 0,
    ),
  )
  return isOffGrid ? 'the exchange has them off the grid' : parts
}

function addUp(parts: readonly KlineBatch[], finer: Interval, place: CandlePlace, kernel: Kernel): FinerSum {
  const { series, startTime, candle } = place
  const [table, sum, own] = [new CandleTable(kernel), new CandleTable(kernel), new CandleTable(kernel)]
  try {
    for (const part of parts) if (part.length > 0) table.add(part)
    if (candle) own.add(candle)
    const { length: candles } = table
    if (candles > 0) {
      sum.begin(startTime)
      sum.addToLast(table, 0, candles)
    }
    const range = { fromTime: startTime, toTime: startTime + 1 }
    const { differences } = compareSeries({ ...series, finer }, own, sum, [range])
    const cells = candles > 0 ? COLUMNS.map((_, column) => sum.text(0, column)) : undefined
    return { interval: finer, candles, cells, differences, reason: undefined }
  } catch (error) {
    if (!isKlinesError(error, 'digits_lost')) throw error
    return { ...NOT_COMPARED, interval: finer, reason: 'a decimal is too long to be added up exactly' }
  }
}
