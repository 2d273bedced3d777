import { COLUMNS, type Column } from '../columns.js'
import { type Interval, nextOpenTime } from '../intervals.js'
import { NO_ROW } from '../kernel/assembly/layout.js'
import { compareCandles } from '../kernel/candle-compare.js'
import { type CandleTable, DECIMALS } from '../kernel/candle-table.js'
import type { CandleGrid } from '../resample/candle-grid.js'
import type { Series } from '../series.js'
import type { SymbolName } from '../symbols.js'
import type { WindowSpan } from '../windows.js'

/** A series in memory. */
export interface LoadedSeries {
  readonly series: Series
  /** Its candles, in order of time. */
  readonly table: CandleTable
  /** The spans whose candles are all loaded, ascending, ms UTC. */
  readonly spans: readonly WindowSpan[]
  /** Open time of the last candle before the table, ms UTC, if it was read. */
  readonly before?: number | undefined
}

/** A value of a candle that differs from the aggregate of its finer candles. */
export interface Difference {
  readonly symbol: SymbolName
  readonly interval: Interval
  /** The interval of the finer candles. */
  readonly finer: Interval
  readonly openTime: number
  /** Undefined when one of the two candles is missing. */
  readonly column: Column | undefined
  /** The candle's own value. */
  readonly value: string
  /** The value of the aggregate. */
  readonly expected: string
  /** Why the difference is not a fault, as text; undefined when it is one. */
  readonly note: string | undefined
}

/** The result of comparing one series with another. */
export interface SeriesComparison {
  readonly comparisons: number
  readonly differences: readonly Difference[]
}

/** The exchange is not exact to the millisecond about when it stopped trading. */
const EARLY_CLOSE_NOTE = 'The candle closes early; only its close time differs, by 1 ms.'
const CLOSE_TIME = COLUMNS.indexOf('close_time')

/** Indexes of the columns that are compared as text. */
const TEXT_COLUMNS = ['close_time', 'count', 'ignore'].map(name => COLUMNS.indexOf(name as Column))

/**
 * Compares a series with the `aggregate` of a finer one wherever both are loaded from a candle's start to its end, and marks the
 * compared candles in the coarser table. All tables belong to one kernel.
 */
export function compareSeries(
  finer: LoadedSeries,
  coarser: LoadedSeries,
  aggregate: CandleTable,
  grid: CandleGrid,
): SeriesComparison {
  const { table, series } = coarser
  const differences: Difference[] = []
  const { symbol, interval } = series
  const differ = (openTime: number, column: Column | undefined, value: string, expected: string, note?: string) =>
    differences.push({ symbol, interval, finer: finer.series.interval, openTime, column, value, expected, note })
  let comparisons = 0
  for (const { startTime, endTime } of overlaps(finer.spans, coarser.spans)) {
    // The last candle may reach beyond the end of the span. A candle off the grid belongs to the span it opens in.
    const { times, pairs } = compareCandles(aggregate, table, startTime, grid.start(endTime))
    comparisons += times
    for (const [expected, actual] of pairs) {
      if (actual === NO_ROW) {
        differ(aggregate.openTime(expected), undefined, 'no candle', `${aggregate.rows(expected)} finer candles`)
      } else if (expected === NO_ROW) differ(table.openTime(actual), undefined, 'a candle', 'no finer candle')
      else {
        const columns = differingColumns(aggregate, expected, table, actual)
        const openTime = table.openTime(actual)
        const closeTimes = [table.closeTime(actual), aggregate.closeTime(expected)]
        const isNote = columns.join() === `${CLOSE_TIME}` && closeEarlyTogether(interval, openTime, closeTimes)
        for (const column of columns) {
          const [value, sum] = [table.text(actual, column), aggregate.text(expected, column)]
          differ(openTime, COLUMNS[column], value, sum, isNote ? EARLY_CLOSE_NOTE : undefined)
        }
      }
    }
  }
  return { comparisons, differences }
}

/** Whether the candle and its aggregate both close before the candle's end, 1 ms apart. */
function closeEarlyTogether(interval: Interval, openTime: number, closeTimes: readonly number[]): boolean {
  const [closeTime, other] = closeTimes
  return Math.abs(closeTime - other) === 1 && Math.max(closeTime, other) < nextOpenTime(interval, openTime) - 1
}

/** Indexes of the columns whose values differ; decimals by their amount, so that leading and trailing zeros do not count. */
function differingColumns(table: CandleTable, row: number, other: CandleTable, otherRow: number): number[] {
  return [
    ...DECIMALS.filter((_, place) => table.amount(row, place) !== other.amount(otherRow, place)),
    ...TEXT_COLUMNS.filter(column => table.text(row, column) !== other.text(otherRow, column)),
  ]
}

/** The spans that two ascending lists have in common. */
export function overlaps(spans: readonly WindowSpan[], others: readonly WindowSpan[]): WindowSpan[] {
  const common: WindowSpan[] = []
  for (let [index, other] = [0, 0]; index < spans.length && other < others.length; ) {
    const startTime = Math.max(spans[index].startTime, others[other].startTime)
    const endTime = Math.min(spans[index].endTime, others[other].endTime)
    if (startTime < endTime) common.push({ startTime, endTime })
    if (spans[index].endTime === endTime) index++
    else other++
  }
  return common
}
