import { candle, putFile, type Row } from './synthetic-tree.js'

const [QUARTER, WEEK] = [900_000, 7 * 86_400_000]
const FIRST = Date.UTC(2024, 11, 30)

/** Writes a tree of full 15m windows, 672 synthetic candles each: by default 3 symbols of 60 weeks, some 18 MB of JSON. */
export function bigMirror(root: string, { symbols = ['BTCUSDT', 'ETHUSDT', 'BNBUSDT'], weeks = 60 } = {}): string {
  for (let week = 0; week < weeks; week++) {
    const start = FIRST + week * WEEK
    const rows = Array.from({ length: 672 }, (_, index): Row => candle(start + index * QUARTER))
    const content = JSON.stringify(rows)
    const startDate = new Date(start).toISOString().slice(0, 10)
    for (const symbol of symbols) putFile(root, `api/klines/15m/${symbol}/${startDate}.json`, content)
  }
  return root
}
