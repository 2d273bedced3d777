import { SYMBOLS_PATH } from '../../../src/candles/paths.js'
import { candle, FULL_WEEKS, weekPath, windowBytes } from '../synthetic-tree.js'
import { type RawClient, rawRequest, sendRaw } from './raw-client.js'

export const WINDOW_PATH = weekPath('BTCUSDT', FULL_WEEKS[0])

export const get = (target: string, headers: string[] = []) => rawRequest(`GET ${target}`, headers)
export const getWindow = (...headers: string[]) => get(`/${WINDOW_PATH}`, headers)

export const SYMBOLS = get(`/${SYMBOLS_PATH}`)
export const WINDOW = getWindow()
export const UNKNOWN = get('/nope')
export const CONNECT = rawRequest('CONNECT a:1')

/** The bytes of a window with `count` candles; 672 are 90 KB. */
export function makeWindow(count: number): Buffer {
  return windowBytes(Array.from({ length: count }, (_, index) => candle(Date.parse(FULL_WEEKS[0]) + index * 900_000)))
}

/** Sends bytes and waits until the server has read them: by then it answers a later request on another connection. */
export async function deliver(client: RawClient, bytes: string | Buffer, url: string): Promise<void> {
  client.send(bytes)
  await sendRaw(url, UNKNOWN)
}
