import { COLUMNS, type Column } from '../columns.js'
import { type Interval, nextOpenTime } from '../intervals.js'
import { NO_ROW } from '../kernel/assembly/layout.js'
import { compareCandles } from '../kernel/candle-compare.js'
import { type CandleTable, DECIMALS } from '../kernel/candle-table.js'
import type { Series } from '../series.js'
import type { SymbolName } from '../symbols.js'
import type { TimeRange } from '../time-range.js'

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

/** Two series of one symbol. */
export interface SeriesPair extends Series {
  /** The interval of the finer candles. */
  readonly finer: Interval
}

/**
 * Compares the candles of a series in `table` with the `aggregate` of a finer one, and marks them as compared: those that open in
 * the ranges, which ascend. Both tables belong to one kernel.
 */
export function compareSeries(
  pair: SeriesPair,
  table: CandleTable,
  aggregate: CandleTable,
  ranges: readonly TimeRange[],
): SeriesComparison {
  const { symbol, interval, finer } = pair
  const differences: Difference[] = []
  const differ = (openTime: number, column: Column | undefined, value: string, expected: string, note?: string) =>
    differences.push({ symbol, interval, finer, openTime, column, value, expected, note })
  let comparisons = 0
  for (const { fromTime, toTime } of ranges) {
    const { times, pairs } = compareCandles(aggregate, table, fromTime, toTime)
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
