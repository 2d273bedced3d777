import { COLUMNS, type Column } from '../candles/columns.js'
import { compareDecimals } from '../candles/decimals.js'
import { type Interval, nextOpenTime } from '../candles/intervals.js'
import type { Series } from '../candles/series.js'
import type { TimeRange } from '../candles/time-range.js'
import { type CandleTable, DECIMALS } from '../rows/candle-table.js'

/** Two series of one symbol: `finer` is the interval of the finer candles. */
export type SeriesPair = Series & { readonly finer: Interval }

/** A value of a candle that differs from the sum of its finer candles. */
export interface Difference extends SeriesPair {
  readonly openTime: number
  /** Undefined when one of the two candles is missing. */
  readonly column: Column | undefined
  readonly value: string
  /** The value of the sum. */
  readonly expected: string
  /** Why the difference is no fault; undefined when it is one. */
  readonly note: string | undefined
}

/** The exchange is not exact to the millisecond about when it stopped trading. */
const EARLY_CLOSE_NOTE = 'The candle closes early; only its close time differs, by 1 ms.'
const TEXT_COLUMNS = ['close_time', 'count', 'ignore'].map(name => COLUMNS.indexOf(name as Column))
/** What adds up of candles that are prices alone; their volumes are 0. */
const PRICE_COLUMNS = ['open', 'high', 'low', 'close', 'close_time'].map(name => COLUMNS.indexOf(name as Column))

/**
 * Compares the candles of a series in `table` that open in a range with the sums of finer ones. Marks them as compared, adds the values
 * that differ to `differences`, and returns how many open times there are. `isPrice`: only prices and times count.
 */
export function compareCandles(
  pair: SeriesPair,
  table: CandleTable,
  sums: CandleTable,
  { fromTime, toTime }: TimeRange,
  differences: Difference[],
  isPrice = false,
): number {
  const differ = (openTime: number, column: Column | undefined, value: string, expected: string, note?: string) =>
    differences.push({ ...pair, openTime, column, value, expected, note })
  const { calls } = table.kernel
  let [row, sum] = [table.rowFrom(fromTime), sums.rowFrom(fromTime)]
  const [end, sumEnd] = [table.rowFrom(toTime, row), sums.rowFrom(toTime, sum)]
  let comparisons = 0
  for (;;) {
    const equal = isPrice
      ? 0
      : calls.countEqual(table.address(row), sums.address(sum), Math.min(end - row, sumEnd - sum))
    comparisons += equal
    row += equal
    sum += equal
    if (row === end && sum === sumEnd) return comparisons
    comparisons++
    const time = row < end ? table.openTime(row) : Infinity
    const sumTime = sum < sumEnd ? sums.openTime(sum) : Infinity
    if (time > sumTime) differ(sumTime, undefined, 'no candle', `${sums.rows(sum)} finer candles`)
    else {
      table.markCompared(row)
      if (time < sumTime) differ(time, undefined, 'a candle', 'no finer candle')
      else {
        const columns = differingColumns(table, row, sums, sum, isPrice)
        // Both close before the candle's end, 1 ms apart.
        const [closeTime, other] = [table.closeTime(row), sums.closeTime(sum)]
        const isEarly = Math.max(closeTime, other) < nextOpenTime(pair.interval, time) - 1
        const isNote = columns.join() === String(TEXT_COLUMNS[0]) && isEarly && Math.abs(closeTime - other) === 1
        for (const column of columns) {
          const [value, expected] = [table.text(row, column), sums.text(sum, column)]
          differ(time, COLUMNS[column], value, expected, isNote ? EARLY_CLOSE_NOTE : undefined)
        }
      }
    }
    if (time <= sumTime) row++
    if (sumTime <= time) sum++
  }
}

/** How many of the first `rows` candles of a table that open in a range were compared with no other. */
export function countUnverified(table: CandleTable, rows: number, { fromTime, toTime }: TimeRange): number {
  const end = Math.min(rows, table.rowFrom(toTime))
  let count = 0
  for (let row = table.rowFrom(fromTime); row < end; row++) if (!table.isCompared(row)) count++
  return count
}

/** Indexes of the columns whose values differ: of decimals the amounts, whatever their zeros. */
export function differingColumns(
  table: CandleTable,
  row: number,
  other: CandleTable,
  otherRow: number,
  isPrice = false,
): number[] {
  const columns = [
    ...DECIMALS.filter((_, place) => compareDecimals(table.decimal(row, place), other.decimal(otherRow, place)) !== 0),
    ...TEXT_COLUMNS.filter(column => table.text(row, column) !== other.text(otherRow, column)),
  ]
  return isPrice ? columns.filter(column => PRICE_COLUMNS.includes(column)) : columns
}
