import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { request } from 'undici'
import { realMarket } from '../support/exchange/real-market.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'

/**
 * Serves the slice as an exchange without a limit, in a process of its own; prints its address. Each answer is made once, so
 * that a round measures its client.
 */
const [root] = process.argv.slice(2)
const exchange = await ExchangeServer.open(realMarket(root))
exchange.weightLimit = Number.POSITIVE_INFINITY
exchange.sendsWeight = false

const answers = new Map<string, { status: number; headers: Record<string, string>; body: Buffer }>()
const front = createServer(async (incoming, response) => {
  const encoding = /\bgzip\b/.test(String(incoming.headers['accept-encoding'])) ? 'gzip' : 'identity'
  const key = `${encoding} ${incoming.url}`
  const answer = answers.get(key) ?? (await fetchAnswer(incoming.url ?? '', encoding))
  answers.set(key, answer)
  response.writeHead(answer.status, answer.headers).end(answer.body)
})

async function fetchAnswer(path: string, encoding: string) {
  const { statusCode, headers, body } = await request(exchange.url + path, { headers: { 'accept-encoding': encoding } })
  const kept = ['content-type', 'content-encoding', 'date'].flatMap(name =>
    headers[name] === undefined ? [] : [[name, String(headers[name])]],
  )
  // A header of the limit makes a client count by it instead of by its own requests.
  const all = { ...Object.fromEntries(kept), 'x-mbx-used-weight-1m': '2' }
  return { status: statusCode, headers: all, body: Buffer.from(await body.arrayBuffer()) }
}

await new Promise<void>(resolve => front.listen(0, '127.0.0.1', resolve))
console.log(JSON.stringify({ url: `http://127.0.0.1:${(front.address() as AddressInfo).port}` }))
process.on('SIGTERM', () => process.exit())
