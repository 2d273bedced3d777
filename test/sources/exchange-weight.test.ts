import { describe, expect, it } from 'vitest'
import { type Market, marketOf } from '../../src/candles/base-url.js'
import { exchangeRules } from '../../src/sources/exchange-api.js'
import { SPOT } from '../support/exchange/spot.js'

const MINUTE = 60_000
/** 12:00:00 on the exchange's clock. */
const NOON = Date.UTC(2024, 1, 10, 12)

type Headers = Record<string, string>
const response = (headers: Headers = {}, status = 200) => ({ status, headers, body: Buffer.alloc(0), wireBytes: 0 })
/** Adds an answer that the exchange gave at a time; returns the pause after it, ms. */
const newCounter = () => {
  const rules = exchangeRules('binance', SPOT, () => 0)
  const add = (answer: ReturnType<typeof response>, servedMs: number) =>
    rules.pauseAfter({ ...answer, headers: { ...answer.headers, date: new Date(servedMs).toUTCString() } })
  return { add }
}
const used = (weight: number | string) => response({ 'x-mbx-used-weight-1m': String(weight) })

describe('the weight that the exchange says', () => {
  it.each([
    [0, 0],
    [2_999, 0],
    [3_000, 39_500],
    // Another program has used it.
    [5_990, 39_500],
    [61_000, 39_500],
  ])('%i at 21 s past the minute: a pause of %i ms', (weight, pause) => {
    expect(newCounter().add(used(weight), NOON + 21_000)).toBe(pause)
  })

  it.each([
    [0, 60_000],
    [30_000, 30_500],
    [59_000, 1_500],
  ])('at %i ms past the minute the pause reaches the next one, never more than a minute', (past, pause) => {
    expect(newCounter().add(used(3_000), NOON + past)).toBe(pause)
  })

  it('is for the minute alone', () => {
    const counter = newCounter()
    expect(counter.add(used(4_000), NOON + 59_000)).toBe(1_500)
    expect(counter.add(used(2), NOON + MINUTE)).toBe(0)
  })

  it('wins over our own count, which knows less', () => {
    const counter = newCounter()
    for (let request = 0; request < 1_499; request++) counter.add(used(2 * request), NOON)
    expect(counter.add(used(2_998), NOON)).toBe(0)
    expect(counter.add(used(2_998), NOON)).toBe(0)
  })
})

describe('our own count', () => {
  /** Answers without the header, all in one minute; returns the pause after the last one. */
  const count = (requests: number, headers: Headers = {}, counter = newCounter()) => {
    let pause = 0
    for (let request = 0; request < requests; request++) pause = counter.add(response(headers), NOON + 21_000)
    return pause
  }

  it('pauses at the same weight', () => {
    expect([count(1_499), count(1_500), count(1_501)]).toEqual([0, 39_500, 39_500])
  })

  it.each(['', 'soon', '-1', '1e9'])('counts for a header of %j', header => {
    const headers = { 'x-mbx-used-weight-1m': header }
    expect([count(1_499, headers), count(1_500, headers)]).toEqual([0, 39_500])
  })

  it('begins anew with each minute of the clock', () => {
    const counter = newCounter()
    expect(count(1_499, {}, counter)).toBe(0)
    expect(counter.add(response(), NOON + MINUTE)).toBe(0)
    expect(counter.add(response(), NOON + MINUTE)).toBe(0)
    // An answer of the last minute that comes late is not one of this minute.
    expect(count(1_600, {}, counter)).toBe(0)
  })
})

describe('calls for funding', () => {
  it('have no weight: 50 a minute are half of their limit', () => {
    const market = marketOf('binance-usdm') as Market
    const { pauseAfter } = exchangeRules('binance-usdm', market, () => NOON + 21_000)
    const pauses = Array.from({ length: 50 }, () => pauseAfter(response(), 'fapi/v1/fundingRate?symbol=BTCUSDT'))
    expect(pauses).toEqual([...Array(49).fill(0), 39_500])
  })
})

describe('429', () => {
  it.each<[string, Headers]>([
    ['without Retry-After', {}],
    ['with a Retry-After that says nothing', { 'retry-after': 'soon' }],
  ])('%s pauses to the next minute: six more requests would be a ban', (_, headers) => {
    expect(newCounter().add(response(headers, 429), NOON + 21_000)).toBe(39_500)
  })

  it('with Retry-After leaves the pause to it', () => {
    expect(newCounter().add(response({ 'retry-after': '7' }, 429), NOON + 21_000)).toBe(0)
  })
})
