import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nextOpenTime } from '../../src/candles/intervals.js'
import { makeRows } from '../support/exchange/made-rows.js'

const MINUTE = 60_000
/** The most candles of an answer, as for the exchange. */
const MOST_ROWS = 1000
const [symbol, from, until] = process.argv.slice(2)
const [FROM, UNTIL] = [Date.parse(from), Date.parse(until)]

/**
 * Serves the candles of one synthetic symbol as an exchange without a limit, in a process of its own; prints its address. Each
 * answer is computed for its request: all candles of 1m together would take gigabytes.
 */
const server = createServer((incoming, response) => {
  const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://exchange/')
  const headers = { 'content-type': 'application/json', 'x-mbx-used-weight-1m': '2' }
  const body = JSON.stringify(findAnswer(pathname, searchParams))
  response.writeHead(200, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
})

function findAnswer(path: string, query: URLSearchParams): unknown {
  if (path.endsWith('/time')) return { serverTime: Date.now() }
  if (!path.endsWith('/klines')) return [{ symbol, price: '1.00000000' }]
  const interval = query.get('interval') as Parameters<typeof nextOpenTime>[0]
  const step = nextOpenTime(interval, 0)
  const first = Math.max(FROM, step * Math.ceil(Number(query.get('startTime') ?? 0) / step))
  const count = Math.min(Number(query.get('limit') ?? 500), MOST_ROWS)
  const end = Math.min(UNTIL, first + count * step, Number(query.get('endTime') ?? UNTIL) + 1)
  // A candle belongs to the answer in which it opens, whole.
  return makeRows(symbol, interval, first, step * Math.ceil(end / step), [], MINUTE)
}

await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }))
process.on('SIGTERM', () => process.exit())
