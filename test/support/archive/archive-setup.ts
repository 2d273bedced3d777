import type { KlineRow } from '../../../src/candles/columns.js'
import { type DownloadRequest, downloadKlines } from '../../../src/index.js'
import { exchangeSetup } from '../exchange/exchange-setup.js'
import { EXCHANGE_NOW, lowerBound, type Market } from '../exchange/market.js'
import { ArchiveServer } from '../servers/archive-server.js'

const DAY = 86_400_000

/** An exchange, its archive, and an empty mirror of them. */
export async function archiveSetup(market: Market, series: { symbol: string; interval: '1m' | '3m' | '5m' }) {
  const setup = await exchangeSetup(market)
  const archive = await ArchiveServer.start(market, EXCHANGE_NOW)
  const { symbol, interval } = series
  const folder = interval === '1m' ? '1min' : interval
  const download = (more: Partial<DownloadRequest> = {}) =>
    downloadKlines({ ...setup.request(), symbols: [symbol], intervals: [interval], archiveUrl: archive.url, ...more })
  /** The days whose stored window is not, byte for byte, what the exchange has. */
  const wrongDays = (from: string, to: string) => {
    const rows = market.rows(symbol, interval) as readonly KlineRow[]
    return datesBetween(from, to).filter(date => {
      const start = Date.parse(date)
      const ofDay = rows.slice(lowerBound(rows, start), lowerBound(rows, start + DAY))
      return setup.text(`${folder}/${symbol}/${date}`) !== JSON.stringify(ofDay)
    })
  }
  /** The days whose candles were requested from the exchange, since the last call; pages of the archive's months are left out. */
  const requestedDays = () => {
    // A page of a month ends later than its day, and the question for the first candle starts at 0.
    const dates = setup.exchange.log
      .filter(({ query, startTime = 0, endTime }) => {
        return query.get('interval') === interval && startTime > 0 && endTime === startTime + DAY - 1
      })
      .map(({ startTime = 0 }) => new Date(startTime).toISOString().slice(0, 10))
    setup.exchange.log.length = 0
    return [...new Set(dates)].sort()
  }
  return { ...setup, archive, download, wrongDays, requestedDays }
}

/** The days from a date to another one, which is left out. */
export function datesBetween(from: string, to: string): string[] {
  const days = (Date.parse(to) - Date.parse(from)) / DAY
  return Array.from({ length: days }, (_, day) => new Date(Date.parse(from) + day * DAY).toISOString().slice(0, 10))
}
