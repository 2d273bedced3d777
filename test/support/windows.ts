import type { KlineRow } from '../../src/candles/columns.js'
import type { WindowRef } from '../../src/candles/series.js'
import { decodeWindow } from '../../src/rows/window-codec.js'

/** A window and its span, calculated by hand. */
export interface KnownWindow {
  readonly window: WindowRef
  readonly span: { readonly startTime: number; readonly endTime: number }
}

/** February of a leap year: 29 days. */
export const LEAP_MONTH: KnownWindow = {
  window: { symbol: 'BTCUSDT', interval: '1h', startDate: '2024-02-01' },
  span: { startTime: 1_706_745_600_000, endTime: 1_709_251_200_000 },
}

/** 15m windows last a week. */
export const WEEK: KnownWindow = {
  window: { symbol: 'ETHUSDT', interval: '15m', startDate: '2024-12-30' },
  span: { startTime: 1_735_516_800_000, endTime: 1_736_121_600_000 },
}

/** 1M windows last twenty years. */
export const TWENTY_YEARS: KnownWindow = {
  window: { symbol: 'ADAUSDT', interval: '1M', startDate: '2010-01-01' },
  span: { startTime: 1_262_304_000_000, endTime: 1_893_456_000_000 },
}

/** 3d windows last five years. */
export const FIVE_YEARS: KnownWindow = {
  window: { symbol: 'SOLUSDT', interval: '3d', startDate: '2020-01-01' },
  span: { startTime: 1_577_836_800_000, endTime: 1_735_689_600_000 },
}

/** 1w windows last ten years; this one does not start on a Monday. */
export const TEN_YEARS: KnownWindow = {
  window: { symbol: 'DOTUSDT', interval: '1w', startDate: '2020-01-01' },
  span: { startTime: 1_577_836_800_000, endTime: 1_893_456_000_000 },
}

/** Two years of 1d, of which the first two months may have candles off the grid. */
export const TWO_YEARS: KnownWindow = {
  window: { symbol: 'BTCUSDT', interval: '1d', startDate: '2018-01-01' },
  span: { startTime: 1_514_764_800_000, endTime: 1_577_836_800_000 },
}

/** A valid row; `cells` replaces elements by index. */
export function sampleRow(openTime: number, cells: Record<number, unknown> = {}): KlineRow {
  const row: KlineRow = [
    openTime,
    '42580.00000000',
    '42600.50000000',
    '42554.57000000',
    '42570.10000000',
    '1195.56000000',
    openTime + 899_999,
    '50903331.16400430',
    53_210,
    '600.15000000',
    '25552311.48122210',
    '0',
  ]
  return Object.assign(row, cells)
}

/** Encodes a value as the service does: JSON without white space. */
export function toJsonBytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value))
}

/** Rows as a batch, decoded from the bytes of a window. */
export function toBatch(rows: readonly unknown[], { window }: KnownWindow) {
  return decodeWindow(toJsonBytes(rows), window)
}
