import type { KlineRow } from '../../../../klines/columns.js'
import type { WindowSpan } from '../../../../klines/windows.js'

/** A candle with numbers, for drawing only. */
export interface Candle {
  /** Open time in seconds, as the chart library counts it. */
  readonly time: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

/** A window that is loaded, or that the server does not have. */
export interface CandleWindow extends WindowSpan {
  /** The text of the file; undefined for a missing window. */
  readonly text: string | undefined
  readonly candles: readonly Candle[]
  /** Decimals that its prices really use. */
  readonly decimals: number
}

/** Reads the text of a window file. */
export function parseWindow(startTime: number, endTime: number, text: string): CandleWindow {
  const rows: KlineRow[] = JSON.parse(text)
  let decimals = 0
  const candles = rows.map(([openTime, open, high, low, close, volume]) => {
    for (const price of [open, high, low, close]) decimals = Math.max(decimals, countDecimals(price))
    return {
      time: openTime / 1000,
      open: Number(open),
      high: Number(high),
      low: Number(low),
      close: Number(close),
      volume: Number(volume),
    }
  })
  return { startTime, endTime, text, candles, decimals }
}

export function missingWindow(startTime: number, endTime: number): CandleWindow {
  return { startTime, endTime, text: undefined, candles: [], decimals: 0 }
}

/** Decimals without zeros at the end: 2 for `75780.10`, 1 for `75780.1000`. */
export function countDecimals(price: string): number {
  const point = price.indexOf('.')
  if (point === -1) return 0
  let end = price.length
  while (price[end - 1] === '0') end--
  return end - point - 1
}
