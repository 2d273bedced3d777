import { COLUMNS, type Column } from '../candles/columns.js'
import { compareDecimals } from '../candles/decimals.js'
import { type CandleTable, DECIMALS } from './candle-table.js'
import * as layout from './wasm/assembly/layout.js'

const place = (name: Column) => DECIMALS.indexOf(COLUMNS.indexOf(name))
/** Pairs of decimals whose first must not be greater than the second. */
const ORDERED_PAIRS = (
  [
    ['low', 'open'],
    ['low', 'close'],
    ['open', 'high'],
    ['close', 'high'],
    ['taker_buy_volume', 'volume'],
    ['taker_buy_quote_volume', 'quote_volume'],
  ] as const
).map(([name, other]) => ({ name, other, less: place(name), more: place(other) }))
/** A volume in the quote asset, and the one in the base asset that was traded for it at prices from low to high. */
const TRADES = (
  [
    ['quote_volume', 'volume'],
    ['taker_buy_quote_volume', 'taker_buy_volume'],
  ] as const
).map(([name, other]) => ({ name, other, quote: place(name), base: place(other) }))
const [HIGH, LOW] = [place('high'), place('low')]
/** How far rounding may take a volume in the quote asset out of its limits; no candle of the exchange is further out. */
const TOLERANCE = 1e-6

/** The unit of decimals that are not long. */
const UNIT = 1e-8
const CANDLE_WORDS = layout.CANDLE_BYTES / 4
const DECIMAL_WORDS = layout.DECIMAL_BYTES / 4

/** Shared by all good candles: millions of them are checked. */
const NO_FAULTS: readonly string[] = []

/**
 * What the values of a candle cannot be at once, each fault described with its values; empty for a good candle. `words`:
 * those of the table, which a caller reads once for many rows.
 */
export function findCandleFaults(table: CandleTable, words: Uint32Array, row: number): readonly string[] {
  let faults = NO_FAULTS
  // An iterator would make six objects a candle.
  for (let index = 0; index < ORDERED_PAIRS.length; index++) {
    const { name, other, less, more } = ORDERED_PAIRS[index]
    if (!isLess(table, words, row, more, less)) continue
    faults = [...faults, `${name} ${table.decimal(row, less)} is above ${other} ${table.decimal(row, more)}`]
  }
  const others = isIdle(words, row) ? findIdleFaults(table, row) : findTradeFaults(table, words, row)
  return others.length === 0 ? faults : [...faults, ...others]
}

/** Volumes in the quote asset that no prices of the candle give, and a price of 0 beside a volume. */
function findTradeFaults(table: CandleTable, words: Uint32Array, row: number): readonly string[] {
  let faults = NO_FAULTS
  const low = toNumber(table, words, row, LOW)
  const high = toNumber(table, words, row, HIGH)
  for (let index = 0; index < TRADES.length; index++) {
    const { name, other, quote, base } = TRADES[index]
    const value = toNumber(table, words, row, quote)
    const volume = toNumber(table, words, row, base)
    const isTooLow = value < low * volume * (1 - TOLERANCE) - UNIT
    const isTooHigh = value > high * volume * (1 + TOLERANCE) + UNIT
    if (!isTooLow && !isTooHigh && (volume === 0 || low > 0)) continue
    const [limit, price] = isTooHigh ? ['above high', HIGH] : [isTooLow ? 'below low' : 'traded at low', LOW]
    const times = `${limit} ${table.decimal(row, price)} x ${other} ${table.decimal(row, base)}`
    faults = [...faults, `${name} ${table.decimal(row, quote)} is ${times}`]
  }
  return faults
}

/** A candle without a trade can have no prices that differ, and no volume. */
function findIdleFaults(table: CandleTable, row: number): readonly string[] {
  let faults = NO_FAULTS
  const high = table.decimal(row, HIGH)
  const low = table.decimal(row, LOW)
  if (compareDecimals(high, low) > 0) faults = [`count is 0, but high ${high} is above low ${low}`]
  for (const name of ['volume', 'quote_volume'] as const) {
    const volume = table.decimal(row, place(name))
    if (/[1-9]/.test(volume)) faults = [...faults, `count is 0, but ${name} is ${volume}`]
  }
  return faults
}

/** Whether the count of a row, a double, is 0. */
function isIdle(words: Uint32Array, row: number): boolean {
  const word = row * CANDLE_WORDS + layout.COUNT / 4
  return words[word] === 0 && words[word + 1] === 0
}

/** Whether a decimal of a row is stored as a text; `words` are those of the table. */
function isLong(words: Uint32Array, row: number, place: number): boolean {
  return ((words[row * CANDLE_WORDS + ((layout.DIGITS + place) >>> 2)] >>> (8 * (place & 3))) & layout.LONG) !== 0
}

/** Where a decimal of a row starts among the words of a table. */
function wordOf(row: number, place: number): number {
  return row * CANDLE_WORDS + layout.DECIMALS / 4 + place * DECIMAL_WORDS
}

function isLess(table: CandleTable, words: Uint32Array, row: number, place: number, other: number): boolean {
  if (isLong(words, row, place) || isLong(words, row, other))
    return compareDecimals(table.decimal(row, place), table.decimal(row, other)) < 0
  const [a, b] = [wordOf(row, place), wordOf(row, other)]
  for (let word = DECIMAL_WORDS - 1; word >= 0; word--)
    if (words[a + word] !== words[b + word]) return words[a + word] < words[b + word]
  return false
}

/** A decimal of a row as the nearest double. */
function toNumber(table: CandleTable, words: Uint32Array, row: number, place: number): number {
  if (isLong(words, row, place)) return Number(table.decimal(row, place))
  const lowest = wordOf(row, place)
  let value = 0
  for (let word = DECIMAL_WORDS - 1; word >= 0; word--) value = value * 2 ** 32 + words[lowest + word]
  return value * UNIT
}
