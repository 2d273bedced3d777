import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DownloadRequest, downloadKlines } from '../../src/engine/klines.js'
import { publishMirror } from '../../src/server/publish.js'
import { MADE_SYMBOLS, madeMarket } from './exchange/made-market.js'
import { EXCHANGE_NOW } from './exchange/market.js'
import { ExchangeServer } from './servers/exchange-server.js'
import { tempFolder } from './temp-folder.js'

/** Few windows: 23 of 12h, from 2017 to 2039, and 12 of 1d, from 2016 to 2039, of which 12h has 10 and 1d 6 started ones. */
export const PUBLISHED_INTERVALS = ['12h', '1d'] as const
export const PUBLISHED_SYMBOLS = ['BTCUSDT', 'PEPEUSDT']

/** A fake exchange, and a folder for its mirror. Everything happens at `EXCHANGE_NOW` unless a request says otherwise. */
export async function publishSetup() {
  const exchange = await ExchangeServer.start(madeMarket(MADE_SYMBOLS))
  const mirror = join(tempFolder(), 'm')
  const baseUrl = `binance:${exchange.url}`
  const present = { mirror, now: EXCHANGE_NOW, retries: 0 }
  const download = (request: Partial<DownloadRequest> = {}) =>
    downloadKlines({ symbols: PUBLISHED_SYMBOLS, intervals: [...PUBLISHED_INTERVALS], baseUrl, ...present, ...request })
  const publish = (options: Partial<Parameters<typeof publishMirror>[0]> = {}) =>
    publishMirror({ ...present, ...options })
  const readJson = (path: string) => JSON.parse(readFileSync(join(mirror, path), 'utf8'))
  return { exchange, mirror, baseUrl, download, publish, readJson }
}
