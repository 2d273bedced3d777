import { COLUMNS, type Column } from '../candles/columns.js'
import { compareDecimals } from '../candles/decimals.js'
import { type Interval, nextOpenTime } from '../candles/intervals.js'
import type { Series } from '../candles/series.js'
import type { TimeRange } from '../candles/time-range.js'
import { type CandleTable, DECIMALS } from '../rows/candle-table.js'
import * as layout from '../rows/wasm/assembly/layout.js'

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

/** 32-bit words and doubles of a candle. */
const WORDS = layout.CANDLE_BYTES / 4
const DOUBLES = layout.CANDLE_BYTES / 8
/** The word that says whether a candle was compared. */
const COMPARED = layout.COMPARED / 4

/**
 * Compares the candles of a series in `table` that open in a range with the sums of finer ones. Marks them as compared, adds the values
 * that differ to `differences`, and returns how many open times there are.
 */
export function compareCandles(
  pair: SeriesPair,
  table: CandleTable,
  sums: CandleTable,
  { fromTime, toTime }: TimeRange,
  differences: Difference[],
): number {
  const differ = (openTime: number, column: Column | undefined, value: string, expected: string, note?: string) =>
    differences.push({ ...pair, openTime, column, value, expected, note })
  const { words, doubles } = table
  const { words: sumWords, doubles: sumDoubles } = sums
  let [row, sum] = [table.rowFrom(fromTime), sums.rowFrom(fromTime)]
  const [end, sumEnd] = [table.rowFrom(toTime, row), sums.rowFrom(toTime, sum)]
  let comparisons = 0
  for (; row < end || sum < sumEnd; comparisons++) {
    const time = row < end ? doubles[row * DOUBLES] : Infinity
    const sumTime = sum < sumEnd ? sumDoubles[sum * DOUBLES] : Infinity
    if (time > sumTime) differ(sumTime, undefined, 'no candle', `${sums.rows(sum)} finer candles`)
    else {
      words[row * WORDS + COMPARED] = 1
      if (time < sumTime) differ(time, undefined, 'a candle', 'no finer candle')
      else if (!areEqual(words, row * WORDS, sumWords, sum * WORDS)) {
        const columns = differingColumns(table, row, sums, sum)
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
  return comparisons
}

/** How many of the first `rows` candles of a table that open in a range were compared with no other. */
export function countUnverified(table: CandleTable, rows: number, { fromTime, toTime }: TimeRange): number {
  const { words } = table
  const end = Math.min(rows, table.rowFrom(toTime))
  let count = 0
  for (let row = table.rowFrom(fromTime); row < end; row++) count += 1 - words[row * WORDS + COMPARED]
  return count
}

/** Indexes of the columns whose values differ: of decimals the amounts, whatever their zeros. */
export function differingColumns(table: CandleTable, row: number, other: CandleTable, otherRow: number): number[] {
  return [
    ...DECIMALS.filter((_, place) => compareDecimals(table.decimal(row, place), other.decimal(otherRow, place)) !== 0),
    ...TEXT_COLUMNS.filter(column => table.text(row, column) !== other.text(otherRow, column)),
  ]
}

/** Whether two candles are equal in all columns but the open time, from their first words on. */
function areEqual(words: Uint32Array, at: number, other: Uint32Array, otherAt: number): boolean {
  for (let word = layout.CLOSE_TIME / 4; word < layout.DIGITS / 4; word++)
    if (words[at + word] !== other[otherAt + word]) return false
  for (let word = layout.DECIMALS / 4; word < WORDS; word++)
    if (words[at + word] !== other[otherAt + word]) return false
  return words[at + layout.IGNORE / 4] === other[otherAt + layout.IGNORE / 4]
}
