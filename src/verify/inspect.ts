import { COLUMNS, type Column } from '../candles/columns.js'
import { compareDecimals } from '../candles/decimals.js'
import { type Interval, mayBeOffGrid, nextOpenTime } from '../candles/intervals.js'
import type { WindowSpan } from '../candles/windows.js'
import type { CandleGrid } from '../rows/candle-grid.js'
import { type CandleTable, DECIMALS } from '../rows/candle-table.js'
import { findGaps, type Gap } from '../rows/gaps.js'
import * as layout from '../rows/wasm/assembly/layout.js'

/** A candle with something odd; `description` is for people, with the values. */
type Oddity = { readonly openTime: number; readonly description: string }
type FaultKind = 'off_grid' | 'invalid_values'

/** How many candles of a kind, and stretches without a trade, are listed: a series may have little else. */
const MAX_LISTED = 10_000
const MAX_RUNS = 1_000

/** The findings about one series. The counts are exact, and the lists have the first ones, in order of time. */
export type Inspection = ReturnType<typeof noFindings>

function noFindings() {
  return {
    candles: 0,
    firstOpenTime: undefined as number | undefined,
    lastOpenTime: undefined as number | undefined,
    gaps: [] as Gap[],
    earlyClose: [] as Oddity[],
    /** Candles that the exchange itself has off the grid. */
    offGrid: [] as Oddity[],
    faults: [] as (Oddity & { readonly kind: FaultKind })[],
    /** Successive candles without a trade, up to the end of the last one. */
    zeroTrades: [] as { startTime: number; endTime: number; candles: number }[],
    /** `invalid`: candles with a fault. */
    counts: { earlyClose: 0, zeroTrades: 0, offGrid: 0, invalid: 0 },
  }
}

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
/** How far rounding may take a volume in the quote asset out of its limits. No candle of the exchange is further out. */
const TOLERANCE = 1e-6

/** The unit of decimals that are not long. */
const UNIT = 1e-8
const CANDLE_WORDS = layout.CANDLE_BYTES / 4
const DECIMAL_WORDS = layout.DECIMAL_BYTES / 4

/** Checks the candles of a series, and the time between them. The codec has refused wrong order and late closes. */
export class SeriesInspector {
  private readonly found = noFindings()
  private lastInvalid: number | undefined

  /** `before`: the open time of any candle before the first one to check, if there is one. */
  constructor(
    private readonly interval: Interval,
    private readonly before?: number,
  ) {}

  /** Checks rows `start` to `end` (exclusive). `spans`: the time whose candles are all loaded, up to the last row. */
  add(table: CandleTable, start: number, end: number, grid: CandleGrid, spans: readonly WindowSpan[]): void {
    const { found, interval } = this
    const { words, doubles } = table
    let previous = found.lastOpenTime ?? this.before
    let expected = previous === undefined ? undefined : nextOpenTime(interval, previous)
    for (let row = start; row < end; row++) {
      const number = (row * layout.CANDLE_BYTES) / 8
      const openTime = doubles[number + layout.OPEN_TIME / 8]
      if (previous !== undefined && openTime !== expected)
        found.gaps.push(...findGaps(interval, grid, spans, previous, openTime))
      const offset = grid.offset(openTime)
      if (offset !== 0) this.addOffGrid({ openTime, description: `opens ${offset} ms off the grid` })
      expected = nextOpenTime(interval, openTime)
      const early = expected - 1 - doubles[number + layout.CLOSE_TIME / 8]
      if (early > 0 && found.counts.earlyClose++ < MAX_LISTED)
        found.earlyClose.push({ openTime, description: `closes ${early} ms early` })
      // An iterator would make six objects a candle.
      for (let index = 0; index < ORDERED_PAIRS.length; index++) {
        const { name, other, less, more } = ORDERED_PAIRS[index]
        if (!isLess(table, words, row, more, less)) continue
        const [value, limit] = [table.decimal(row, less), table.decimal(row, more)]
        this.addFault('invalid_values', { openTime, description: `${name} ${value} is above ${other} ${limit}` })
      }
      if (doubles[number + layout.COUNT / 8] === 0) this.addIdle(table, row)
      else this.checkTrades(table, words, row, openTime)
      found.firstOpenTime ??= openTime
      previous = openTime
    }
    if (end > start) found.lastOpenTime = previous
    found.candles += end - start
  }

  /** The findings. `spans` as in `add`. `knownUntil`: a candle before it that is not there is missing, ms UTC. */
  end(grid: CandleGrid, spans: readonly WindowSpan[], knownUntil = -Infinity): Inspection {
    const { interval, found, before } = this
    const last = found.lastOpenTime ?? before
    if (last !== undefined) found.gaps.push(...findGaps(interval, grid, spans, last, knownUntil))
    return found
  }

  /** Finds volumes in the quote asset that no prices of the candle give, and a price of 0 beside a volume. */
  private checkTrades(table: CandleTable, words: Uint32Array, row: number, openTime: number): void {
    const [low, high] = [toNumber(table, words, row, LOW), toNumber(table, words, row, HIGH)]
    for (let index = 0; index < TRADES.length; index++) {
      const { name, other, quote, base } = TRADES[index]
      const [value, volume] = [toNumber(table, words, row, quote), toNumber(table, words, row, base)]
      const isTooLow = value < low * volume * (1 - TOLERANCE) - UNIT
      const isTooHigh = value > high * volume * (1 + TOLERANCE) + UNIT
      if (!isTooLow && !isTooHigh && (volume === 0 || low > 0)) continue
      const [limit, price] = isTooHigh ? ['above high', HIGH] : [isTooLow ? 'below low' : 'traded at low', LOW]
      const times = `${limit} ${table.decimal(row, price)} x ${other} ${table.decimal(row, base)}`
      this.addFault('invalid_values', { openTime, description: `${name} ${table.decimal(row, quote)} is ${times}` })
    }
  }

  /** A candle without a trade can have no prices that differ, and no volume. */
  private addIdle(table: CandleTable, row: number): void {
    const openTime = table.openTime(row)
    const fail = (what: string) => this.addFault('invalid_values', { openTime, description: `count is 0, but ${what}` })
    const [high, low] = [table.decimal(row, HIGH), table.decimal(row, LOW)]
    if (compareDecimals(high, low) > 0) fail(`high ${high} is above low ${low}`)
    for (const name of ['volume', 'quote_volume'] as const) {
      const volume = table.decimal(row, place(name))
      if (/[1-9]/.test(volume)) fail(`${name} is ${volume}`)
    }
    const endTime = table.closeTime(row) + 1
    const { zeroTrades: runs, counts } = this.found
    const last = runs.at(-1)
    if (last?.endTime === openTime) {
      last.endTime = endTime
      last.candles++
    } else if (runs.length < MAX_RUNS) {
      runs.push({ startTime: openTime, endTime, candles: 1 })
    }
    counts.zeroTrades++
  }

  private addOffGrid(candle: Oddity): void {
    const { counts, offGrid } = this.found
    if (!mayBeOffGrid(candle.openTime)) this.addFault('off_grid', candle)
    else if (counts.offGrid++ < MAX_LISTED) offGrid.push(candle)
  }

  private addFault(kind: FaultKind, candle: Oddity): void {
    if (candle.openTime !== this.lastInvalid) this.found.counts.invalid++
    this.lastInvalid = candle.openTime
    if (this.found.faults.length < MAX_LISTED) this.found.faults.push({ kind, ...candle })
  }
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
