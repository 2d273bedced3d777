import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { expect, onTestFinished } from 'vitest'
import { SYMBOLS_PATH } from '../../src/klines/paths.js'
import { RawClient, rawRequest, sendRaw } from './servers/raw-client.js'
import { candle, FULL_WEEKS, RENDERED, weekPath, windowBytes } from './synthetic-tree.js'

export const WINDOW_PATH = weekPath('BTCUSDT', FULL_WEEKS[0])

export const get = (target: string, headers: string[] = []) => rawRequest(`GET ${target}`, headers)
export const getWindow = (...headers: string[]) => get(`/${WINDOW_PATH}`, headers)

export const SYMBOLS = get(`/${SYMBOLS_PATH}`)
export const LAST_SYMBOLS = get(`/${SYMBOLS_PATH}`, ['Connection: close'])
export const OLD_SYMBOLS = Buffer.from(`GET /${SYMBOLS_PATH} HTTP/1.0\r\nHost: localhost\r\n\r\n`)
export const WINDOW = getWindow()
export const HEAD = rawRequest(`HEAD /${WINDOW_PATH}`)
export const UNMODIFIED = getWindow(`If-Modified-Since: ${new Date(RENDERED).toUTCString()}`)
export const NONE = get('/nope')
export const CONNECT = rawRequest('CONNECT a:1')

/** A window of so many candles; 672 are 90 KB. */
export function windowOf(count: number): Buffer {
  return windowBytes(Array.from({ length: count }, (_, at) => candle(Date.parse(FULL_WEEKS[0]) + at * 900_000)))
}

/** Tells all that came over a connection since it was last asked, but for the dates. */
export function recordOf(client: RawClient): () => string {
  const chunks: Buffer[] = []
  client.socket.on('data', chunk => chunks.push(chunk))
  return () => {
    const text = Buffer.concat(chunks.splice(0)).toString('latin1')
    return text.replaceAll(/\r\ndate: [^\r]*/gi, '')
  }
}

/** Counts the requests for a path that Node's parser reads, in this process and until the test is over. */
export function countParsed(path: string): () => number {
  let parsed = 0
  const count = (message: unknown) => {
    if ((message as { request: IncomingMessage }).request.url === `/${path}`) parsed++
  }
  subscribe('http.server.request.start', count)
  onTestFinished(() => void unsubscribe('http.server.request.start', count))
  return () => parsed
}

/** Sends bytes, and waits until the server has read them: it has when it answers what was sent after them. */
export async function deliver(client: RawClient, bytes: string | Buffer, url: string): Promise<void> {
  client.send(bytes)
  await sendRaw(url, NONE)
}

/** A connection over which a request was answered twice, so that the server knows it. */
export async function openKnown(url: string, request: Buffer): Promise<RawClient> {
  const client = await RawClient.open(url)
  for (let time = 0; time < 2; time++) {
    client.send(request)
    expect((await client.next()).status).toBe(200)
  }
  return client
}
