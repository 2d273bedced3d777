import type { KlineRow } from '../../../src/candles/columns.js'
import { makeRows } from '../exchange/made-rows.js'
import type { Market } from '../exchange/market.js'

const LENGTHS: Readonly<Record<string, number>> = { '1m': 60_000, '1h': 3_600_000 }

/** A market of one symbol with years of 1m candles, which are computed where they are read, and their 1h candles. */
export function longMarket(symbol: string, from: number, until: number): Market {
  const hours = makeRows(symbol, '1h', from, until, [], LENGTHS['1m'])
  const minutes = lazyRows(Math.floor((until - from) / LENGTHS['1m']), (start, end) => {
    const time = (index: number) => from + index * LENGTHS['1m']
    return makeRows(symbol, '1m', time(start), time(end), [], LENGTHS['1m'])
  })
  return {
    symbols: () => [symbol],
    rows: (_, interval) => (interval === '1h' ? hours : interval === '1m' ? minutes : undefined),
  }
}

/** What servers use of an array of rows: its length, a row, a slice. */
function lazyRows(length: number, read: (start: number, end: number) => KlineRow[]): readonly KlineRow[] {
  const slice = (start = 0, end = length) => read(Math.max(0, start), Math.min(end, length))
  return new Proxy([] as KlineRow[], {
    get: (_, key) => {
      if (key === 'length') return length
      if (key === 'slice') return slice
      const index = Number(key)
      return index >= 0 && index < length ? read(index, index + 1)[0] : undefined
    },
  })
}
