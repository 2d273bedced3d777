import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { WindowRef } from '../../src/candles/series.js'
import { reportError } from '../../src/cli/error-report.js'
import { downloadKlines } from '../../src/engine/klines.js'
import { exchangeSource } from '../../src/sources/exchange.js'
import { exchangeRules } from '../../src/sources/exchange-api.js'
import { Fetcher } from '../../src/sources/fetcher.js'
import { RETRY_POLICY } from '../../src/sources/retry.js'
import { HttpTransport } from '../../src/sources/transport.js'
import { cases } from '../support/cases.js'
import { turns, until } from '../support/deferred.js'
import { catchError } from '../support/errors.js'
import {
  BANNED_SILENTLY,
  banned,
  FORBIDDEN,
  type PlainAnswer,
  RESTRICTED,
  tooManyRequests,
} from '../support/exchange/exchange-answers.js'
import { exchangeSetup } from '../support/exchange/exchange-setup.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { SPOT } from '../support/exchange/spot.js'
import { FakeClock } from '../support/fake-clock.js'
import { Random } from '../support/random.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'

const MINUTE = 60_000
const LIMIT = 6_000
const PAUSE_REASON = 'half the request limit is used'
const WINDOW: WindowRef = { symbol: 'ABCUSDT', interval: '1d', startDate: '2024-01-01' }
const signal = new AbortController().signal

/** A client and an exchange whose clocks are one, which moves only when somebody waits. */
async function setup(concurrency: number) {
  const clock = new FakeClock(EXCHANGE_NOW)
  const exchange = await ExchangeServer.open(madeMarket({}, { names: ['ABCUSDT'] }))
  exchange.now = () => clock.now()
  const reasons = new Set<string | undefined>()
  const transport = new HttpTransport(exchange.url, { connections: concurrency })
  const fetcher = new Fetcher(transport, 'binance', {
    concurrency,
    clock,
    random: () => 1,
    policy: RETRY_POLICY,
    rules: exchangeRules('binance', SPOT, () => clock.now()),
    onActivity: ({ pauseMs, pauseReason }) => {
      if (pauseMs > 0) reasons.add(pauseReason)
    },
  })
  const source = exchangeSource(fetcher, SPOT, { now: () => clock.now(), observe: () => {} }, () => {})
  const stop = async () => {
    await fetcher.close()
    await exchange.stop()
  }
  return { clock, exchange, reasons, stop, window: () => source.fetch(WINDOW, undefined, signal) }
}

/** What the network and the other programs on this address do. */
const weather = fc.record({
  seed: fc.integer(),
  concurrency: fc.oneof(fc.integer({ min: 1, max: 64 }), fc.constantFrom(1, 4, 16, 64)),
  /** How long the longest answer takes, ms: some runs take several minutes, some a moment. */
  latency: fc.constantFrom(0, 5, 30, 300, 5_000),
  sendsWeight: fc.boolean(),
  /** The most that other programs use in a minute. */
  others: fc.constantFrom(0, 500, 2_700),
})

it('the limit of the exchange is never reached, whatever the latencies and the other programs', async () => {
  let paused = 0
  const property = fc.asyncProperty(weather, async ({ seed, concurrency, latency, sendsWeight, others }) => {
    const { clock, exchange, reasons, window, stop } = await setup(concurrency)
    const random = new Random(seed)
    let minute = 0
    const othersUsed = new Map<number, number>()
    exchange.sendsWeight = sendsWeight
    exchange.hold = async () => {
      const now = Math.floor(clock.now() / MINUTE)
      if (now > minute) {
        minute = now
        exchange.otherWeight = others && random.below(others)
        othersUsed.set(now, exchange.otherWeight)
      }
      if (latency > 0) await clock.sleep(random.below(latency))
    }
    try {
      // More than the budget of a minute, and than half of that of the next one.
      await Promise.all(Array.from({ length: 2_300 }, window))
      expect(exchange.log.filter(({ status }) => status !== 200)).toEqual([])
      expect(exchange.log).toHaveLength(2_300)
      expect(exchange.violations).toEqual([])
      for (const [time, weight] of exchange.weights) {
        expect(weight + (othersUsed.get(time) ?? 0), `minute ${time}`).toBeLessThanOrEqual(LIMIT)
        // What is on its way when half of it is used.
        expect(weight, `minute ${time}`).toBeLessThanOrEqual(LIMIT / 2 + 4 * concurrency)
      }
      for (const reason of reasons) expect(reason).toBe(PAUSE_REASON)
      if (reasons.size > 0) paused++
      // Nobody waits for longer than it takes: 4,600 of 3,000 or less in a minute.
      const least = sendsWeight ? 3_000 - others : 3_000
      expect(clock.now() - EXCHANGE_NOW).toBeLessThan((4_600 / least + 3) * MINUTE + 2_300 * latency)
    } finally {
      await stop()
    }
  })
  const pausing = { seed: 1, concurrency: 16, latency: 5, sendsWeight: true, others: 500 }
  await fc.assert(property, { numRuns: cases(10, 1), examples: [[pausing]] })
  expect(paused).toBeGreaterThan(0)
})

it.each([
  ['with Retry-After', tooManyRequests(7), 7_000, 'rate limited'],
  ['without Retry-After', tooManyRequests(), 40_500, 'rate limited'],
])('429 %s pauses everything', async (_, answer, pause, reason) => {
  const { clock, exchange, reasons, window, stop } = await setup(8)
  onTestFinished(stop)
  const start = EXCHANGE_NOW + 20_000
  await clock.sleep(20_000)
  exchange.script('api', answer)
  await window()
  expect(clock.now() - start).toBeGreaterThanOrEqual(pause)
  expect(clock.now() - start).toBeLessThan(pause + 2_000)
  expect([...reasons]).toEqual([reason])
})

describe('a refusal ends the run at once:', () => {
  const REFUSALS: [string, PlainAnswer, RegExp, RegExp][] = [
    ['418 with Retry-After', banned(EXCHANGE_NOW, 300), /418 .*banned until/, /Wait until then/],
    ['418 that says nothing', BANNED_SILENTLY, /418 .*banned until/, /Wait until then/],
    ['403', FORBIDDEN, /403 .*firewall/, /Wait some minutes/],
    ['451', RESTRICTED, /451 .*does not serve this region/, /--base-url binance/],
  ]
  it.each(REFUSALS)('%s', async (_, answer, message, advice) => {
    const concurrency = 4
    const { exchange, request } = await exchangeSetup()
    const GOOD = 20
    let held = 0
    // After some good answers all requests at once are refused together.
    exchange.hold = async () => {
      if (exchange.log.length > GOOD) {
        held++
        await until(() => held === concurrency)
      }
    }
    exchange.always(() => exchange.log.length > GOOD, answer)
    const run = { ...request(), symbols: ['BTCUSDT'], intervals: ['15m' as const], concurrency }
    const error = await catchError(downloadKlines({ ...run, from: '2024-01-01' }))
    const { exitCode, text } = reportError(error)
    expect(exitCode, text).toBe(5)
    expect(text.split('\n')[0]).toMatch(message)
    expect(text).toMatch(advice)
    await turns()
    expect(exchange.log).toHaveLength(GOOD + concurrency)
    expect(exchange.violations).toEqual([])
  })
})
