import { describe, expect, it, onTestFinished } from 'vitest'
import { KlinesError } from '../../src/candles/errors.js'
import { exchangeSource } from '../../src/sources/exchange.js'
import { Fetcher } from '../../src/sources/fetcher.js'
import { RETRY_POLICY } from '../../src/sources/retry.js'
import { catchError } from '../support/errors.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { SPOT } from '../support/exchange/spot.js'
import { FakeClock } from '../support/fake-clock.js'

/** The names that a source takes from an answer, and those that it warns of. */
async function parseBytes(body: Buffer) {
  const warnings: string[] = []
  const headers = { date: new Date(EXCHANGE_NOW).toUTCString() }
  const transport = { get: async () => ({ status: 200, headers, body, wireBytes: 0 }), close: async () => {} }
  const fetcher = new Fetcher(transport, 'binance', {
    concurrency: 1,
    policy: RETRY_POLICY,
    clock: new FakeClock(EXCHANGE_NOW),
  })
  const clock = { now: () => EXCHANGE_NOW, observe: () => {} }
  const source = exchangeSource(fetcher, SPOT, clock, text => warnings.push(text))
  onTestFinished(() => source.close())
  const { names } = await source.symbols(new AbortController().signal)
  return { symbols: names, warnings }
}

const parse = (value: unknown) => parseBytes(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)))
/** What such an answer is refused with. */
async function refusal(body: Buffer | string): Promise<KlinesError> {
  const { cause } = await catchError(parseBytes(Buffer.from(body)))
  if (cause instanceof KlinesError) return cause
  throw cause
}
const prices = (...symbols: unknown[]) => symbols.map(symbol => ({ symbol, price: '1.00000000' }))

describe('the names of the exchange', () => {
  it('are those of the public service first, in their order, then the others by name', async () => {
    expect(await parse(prices('ZRXBTC', 'ETHUSDT', '1INCHBTC', 'BTCUSDT', 'AAVEBTC'))).toEqual({
      symbols: ['BTCUSDT', 'ETHUSDT', '1INCHBTC', 'AAVEBTC', 'ZRXBTC'],
      warnings: [],
    })
  })

  it.each([...['①USDT', 'E\u0301USDT', 'btcusdt', 'BTC-USDT', 'A', 'X'.repeat(41), '../../etc', 'AB\u0000']])(
    'that cannot be a path are left out: %j',
    async name => {
      expect(await parse(prices('ETHBTC', name))).toEqual({
        symbols: ['ETHBTC'],
        warnings: [expect.stringMatching(/are left out: /)],
      })
    },
  )

  it.each([
    ['', /it is not JSON/, 'not_json'],
    ['{"symbols":{}}', /it is not an array/, 'shape'],
    ['[null]', /entry 0 has no symbol/, 'shape'],
    ['[{"symbol":"ETHBTC"},{"price":"1"}]', /entry 1 has no symbol/, 'shape'],
    ['[{"__proto__":{"symbol":"ETHBTC"}}]', /entry 0 has no symbol/, 'shape'],
    ['['.repeat(100_000), /it is not JSON/, 'not_json'],
  ])('%.30s is refused', async (text, message, kind) => {
    const error = await refusal(text)
    expect(error).toMatchObject({ code: 'bad_list', data: { kind } })
    expect(error.message).toMatch(message)
  })
})
