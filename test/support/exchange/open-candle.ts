import type { KlineRow } from '../../../src/candles/columns.js'
import { aggregateOracle } from '../oracles/resample-oracle.js'
import { EXCHANGE_INTERVALS, lowerBound, type Market, nextOpenTime } from './market.js'

/** A series at a time: how many of its rows are closed, and the candle that is open. */
export interface SeriesState {
  readonly rows: readonly KlineRow[]
  readonly closed: number
  /** The final values of the candle that is open; undefined when none is. */
  readonly opened: KlineRow | undefined
}

/** What of a series is closed at `now`. A symbol that trades has an open candle after its last row too. */
export function stateAt(market: Market, symbol: string, interval: string, now: number): SeriesState {
  const rows = market.rows(symbol, interval) ?? []
  const started = lowerBound(rows, now + 1)
  const last = rows[started - 1]
  if (last === undefined) return { rows, closed: 0, opened: undefined }
  if (last[6] >= now) return { rows, closed: started - 1, opened: last }
  const next = nextOpenTime(interval, last[0])
  // Elsewhere than at the end of the data there is no candle because the exchange was closed.
  const isOpen = started === rows.length && next <= now && now < nextOpenTime(interval, next)
  const opened = isOpen && market.isTrading?.(symbol) !== false ? nextRow(last, next) : undefined
  return { rows, closed: started, opened }
}

/**
 * The candle as the exchange sends it before its end: the exact aggregate of the finer candles so far, else a part of `final`.
 * A client must not store it.
 */
export function openCandle(market: Market, symbol: string, interval: string, final: KlineRow, now: number): KlineRow {
  const openTime = final[0]
  const row = aggregateFiner(market, symbol, interval, openTime, now) ?? partOf(final)
  row[6] = nextOpenTime(interval, openTime) - 1
  return row
}

/** Open candles by the rows that they were made of: a month of minutes takes a tenth of a second, and is asked for often. */
const made = new WeakMap<readonly KlineRow[], Map<string, KlineRow>>()

/** The aggregate of the closed candles since `openTime` of the finest interval that has them all; undefined when none has. */
function aggregateFiner(market: Market, symbol: string, interval: string, openTime: number, now: number) {
  for (const finer of EXCHANGE_INTERVALS.slice(0, EXCHANGE_INTERVALS.indexOf(interval))) {
    const rows = market.rows(symbol, finer)
    if (!rows || rows.length === 0 || rows[0][0] > openTime) continue
    const closed = rows.slice(lowerBound(rows, openTime), lowerBound(rows, now)).filter(row => row[6] < now)
    if (closed.length === 0) continue
    const known = made.get(rows) ?? new Map<string, KlineRow>()
    made.set(rows, known)
    // Rows that close one by one make the same candle until the next one has closed.
    const key = `${openTime} ${closed.length}`
    const row = known.get(key) ?? (aggregateOracle(openTime, closed) as KlineRow)
    known.set(key, row)
    return [...row] as KlineRow
  }
  return undefined
}

/** The columns of volumes. */
const AMOUNTS = [5, 7, 9, 10]

/** Half of a candle: half its volumes and trades, and its open price as the last price. */
function partOf(row: KlineRow): KlineRow {
  const part = row.map((cell, column) => (AMOUNTS.includes(column) ? half(String(cell)) : cell))
  return part.with(4, row[1]).with(8, row[8] >> 1) as KlineRow
}

/** Half of a decimal with eight digits after the point, rounded down. */
function half(decimal: string): string {
  const digits = String(BigInt(decimal.replace('.', '')) / 2n).padStart(9, '0')
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`
}

/** A candle at `openTime` with the values of the one before it. */
function nextRow(row: KlineRow, openTime: number): KlineRow {
  const next = [...row] as KlineRow
  next[0] = openTime
  return next
}
