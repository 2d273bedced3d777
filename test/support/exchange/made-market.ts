import type { KlineRow } from '../../../src/candles/columns.js'
import { makeRows } from './made-rows.js'
import { EXCHANGE_NOW, type Market } from './market.js'

const MINUTE = 60_000
const DAY = 86_400_000
/** Where candles end by default, well after the clock: then the open candle has final values, too. */
const END = EXCHANGE_NOW + 60 * DAY

/** A symbol of a made market; times in ms UTC or as ISO text. */
export interface MadeSymbol {
  /** The open time of the first 15m candle, on a quarter of an hour; of the first shorter one with `minutes`. */
  readonly from?: number | string
  /** The length of its shortest candles, which all others are the aggregates of. Default: 15. */
  readonly minutes?: number
  /** Where the candles end: before the clock for a delisted symbol. */
  readonly until?: number | string
  /** Spans without candles: start and end, exclusive. */
  readonly without?: readonly (readonly [number | string, number | string])[]
  /** Rows of some intervals as they are, instead of computed ones. */
  readonly rows?: Readonly<Record<string, readonly KlineRow[]>>
}

/** Options of a made market. */
interface MadeOptions {
  /** Where the candles of symbols without `until` end. */
  readonly until?: number | string
  /** More names that the exchange knows, without a candle; they come after the symbols. */
  readonly names?: readonly string[]
}

/** A market of symbols with computed candles; coarser ones are the aggregates of 15m. A series is computed when it is needed. */
export function madeMarket(symbols: Readonly<Record<string, MadeSymbol>>, options: MadeOptions = {}): Market {
  const names = [...Object.keys(symbols), ...(options.names ?? [])]
  return {
    symbols: () => names,
    isTrading: symbol => symbols[symbol]?.until === undefined,
    rows: (symbol, interval) => {
      const made = symbols[symbol]
      if (made?.rows) return made.rows[interval]
      if (made?.from === undefined) return undefined
      const spans = (made.without ?? []).map(([start, end]) => [toTime(start), toTime(end)] as const)
      const until = toTime(made.until ?? options.until ?? END)
      return cachedRows(symbol, interval, toTime(made.from), until, spans, made.minutes && made.minutes * MINUTE)
    },
  }
}

/** Computed rows by what they are computed from, and how many these are: the markets of many tests are alike. */
const cache = new Map<string, readonly KlineRow[]>()
const MOST_ROWS = 500_000
let rowCount = 0

function cachedRows(...made: Parameters<typeof makeRows>): readonly KlineRow[] {
  const key = JSON.stringify(made)
  const known = cache.get(key)
  if (known) return known
  const rows = makeRows(...made)
  if (rowCount + rows.length > MOST_ROWS) {
    cache.clear()
    rowCount = 0
  }
  cache.set(key, rows)
  rowCount += rows.length
  return rows
}

function toTime(time: number | string): number {
  return typeof time === 'number' ? time : Date.parse(time)
}

/** The symbols that tests need most: new, odd, delisted and relisted ones. */
export const MADE_SYMBOLS: Readonly<Record<string, MadeSymbol>> = {
  BTCUSDT: { from: '2023-11-20T00:00Z' },
  PEPEUSDT: { from: '2025-05-05T16:00Z' },
  BTCEUR: { from: '2024-01-03T08:00Z' },
  /** Listed yesterday. */
  NEWUSDT: { from: EXCHANGE_NOW - (EXCHANGE_NOW % DAY) - DAY + DAY / 2 },
  /** Delisted. */
  NAVBTC: { from: '2019-11-05T06:00Z', until: '2020-06-02T03:00Z' },
  /** Taken out and brought back, with a hole of five months. */
  USDCUSDT: {
    from: '2022-06-01T00:00Z',
    until: '2023-09-01T00:00Z',
    without: [['2022-09-29T03:00Z', '2023-03-12T04:00Z']],
  },
}
