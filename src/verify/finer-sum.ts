import { planWindows } from '../download/plan.js'
import { CheckedSeries } from '../klines/audit/checked-series.js'
import { compareSeries } from '../klines/audit/compare-series.js'
import { COLUMNS, type Column } from '../klines/columns.js'
import { EXCHANGE_INTERVALS, type Interval, nextOpenTime } from '../klines/intervals.js'
import { groupCandles } from '../klines/kernel/candle-compare.js'
import { CandleTable } from '../klines/kernel/candle-table.js'
import { Kernel } from '../klines/kernel/kernel.js'
import type { Series } from '../klines/series.js'
import type { TimeRange } from '../klines/time-range.js'
import type { Mirror } from '../mirror/mirror.js'
import { SeriesReader } from './series-reader.js'

/** A candle beside what the cached candles of the finest interval that covers it add up to. */
export interface CandleSum extends Series {
  readonly openTime: number
  /** The 12 cells as text. */
  readonly cells: readonly string[]
  /** Undefined when no finer interval of the mirror covers the candle. */
  readonly finer: FinerSum | undefined
}

interface FinerSum {
  readonly interval: Interval
  readonly candles: number
  /** The exact sum. */
  readonly cells: readonly string[]
  /** The columns in which the candle differs from it. */
  readonly differing: readonly (Column | undefined)[]
}

/** The candles of a series that open in a range. `now`: ms UTC. Throws `digits_lost` and `mirror_unusable`. */
export function sumFiner(mirror: Mirror, series: Series, range: TimeRange, now: number): CandleSum[] {
  const kernel = new Kernel()
  const read = ({ symbol, interval }: Series, range: TimeRange) => {
    const windows = planWindows({ symbol, interval }, mirror.contents.startDates({ symbol, interval }), range, now)
    const plan = { symbol, interval, startDates: windows.map(({ startDate }) => startDate) }
    const reader = new SeriesReader(mirror, plan, new CandleTable(kernel), range, now)
    reader.readTo(Infinity)
    return new CheckedSeries(reader)
  }
  const own = read(series, range)
  const { table } = own.loaded
  const ownSpans = own.findSpans(-Infinity, Infinity)
  const candles = Array.from({ length: table.length }, (_, row): CandleSum => {
    return { ...own.loaded.series, openTime: table.openTime(row), cells: cellsOf(table, row), finer: undefined }
  })
  return EXCHANGE_INTERVALS.reduce((found, interval) => {
    const whole = found.filter(({ finer }) => finer === undefined)
    if (whole.length === 0) return found
    const [first, last] = [whole[0].openTime, whole[whole.length - 1].openTime]
    const finer = read(
      { symbol: series.symbol, interval },
      { fromTime: first, toTime: nextOpenTime(series.interval, last) },
    )
    if (!finer.fitsInto(own)) return found
    const spans = finer.findSpans(-Infinity, Infinity)
    const sums = groupCandles(finer.loaded.table, own.grid, new CandleTable(kernel))
    return found.map(candle => {
      const { openTime } = candle
      const endTime = nextOpenTime(series.interval, openTime)
      const row = sums.rowFrom(openTime)
      // A candle off the grid, or in such a stretch, does not add up.
      const isOnGrid = ownSpans.some(span => span.startTime <= openTime && span.endTime > openTime)
      const isCovered = spans.some(span => span.startTime <= openTime && span.endTime >= endTime)
      if (candle.finer || !isOnGrid || !isCovered || sums.rowFrom(openTime + 1) === row) return candle
      const range = { fromTime: openTime, toTime: openTime + 1 }
      const { differences } = compareSeries({ ...series, finer: interval }, table, sums, [range])
      const differing = differences.map(({ column }) => column)
      return { ...candle, finer: { interval, candles: sums.rows(row), cells: cellsOf(sums, row), differing } }
    })
  }, candles)
}

function cellsOf(table: CandleTable, row: number): string[] {
  return COLUMNS.map((_, column) => table.text(row, column))
}
