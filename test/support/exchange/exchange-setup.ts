import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KlineRow } from '../../../src/candles/columns.js'
import { onWarning } from '../events.js'
import { ExchangeServer } from '../servers/exchange-server.js'
import { tempFolder } from '../temp-folder.js'
import { MADE_SYMBOLS, madeMarket } from './made-market.js'
import type { Market } from './market.js'

/** Its series are computed once for all tests of a file. */
const MADE = madeMarket(MADE_SYMBOLS)

/** An exchange, an empty folder for a mirror, and what requests of the library need. */
export async function exchangeSetup(market: Market = MADE) {
  return withMirror(await ExchangeServer.start(market), tempFolder())
}

/** The same for an exchange and a folder that several tests share. */
export function withMirror(exchange: ExchangeServer, folder: string) {
  const mirror = join(folder, 'mirror')
  const warnings: string[] = []
  const onEvent = onWarning(text => warnings.push(text))
  /** A request at the exchange's present; this machine's clock is right. */
  const request = () => ({ baseUrl: `binance:${exchange.url}`, mirror, onEvent, now: exchange.time })
  const file = (path: string) => join(mirror, 'api/klines', path)
  /** The text of a stored window, such as `1d/BTCUSDT/2024-01-01`; undefined when it is missing. */
  const text = (window: string) => {
    const path = file(`${window}.json`)
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined
  }
  const rows = (window: string) => JSON.parse(text(window) ?? 'null') as KlineRow[]
  /** The start dates of the stored windows of a series, such as `1d/BTCUSDT`. */
  const dates = (series: string) =>
    existsSync(file(series))
      ? readdirSync(file(series))
          .map(name => name.slice(0, 10))
          .sort()
      : []
  /** The requests since the last call, sorted: the kind, the first candle of a series, or the day that a window starts on. */
  const requests = () => {
    const names = exchange.log.map(({ kind, startTime }) =>
      kind !== 'klines' ? kind : startTime === 0 ? 'first candle' : new Date(startTime ?? 0).toISOString().slice(0, 10),
    )
    exchange.log.length = 0
    return names.sort()
  }
  return { exchange, folder, mirror, warnings, request, text, rows, dates, requests }
}
