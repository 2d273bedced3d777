import { describe, expect, it } from 'vitest'
import { findRefusal } from '../../src/sources/exchange-api.js'
import {
  BANNED_SILENTLY,
  banned,
  errorAnswer,
  FORBIDDEN,
  type PlainAnswer,
  RESTRICTED,
} from '../support/exchange/exchange-answers.js'

const NOW = Date.UTC(2024, 1, 10, 12)
const OTHER = 'binance:http://127.0.0.1:8080'

const refusal = ({ status, headers, body }: PlainAnswer, baseUrl = 'binance') =>
  findRefusal(baseUrl, { status, headers, body: Buffer.from(body), wireBytes: body.length }, NOW)

it.each<[string, PlainAnswer, number]>([
  ['until Retry-After', banned(NOW + 300_000, 120), 120_000],
  ['for two minutes without it', BANNED_SILENTLY, 120_000],
  ['for two minutes when Retry-After is 0', banned(NOW + 300_000, 0), 120_000],
])('418 is a ban %s', (_, answer, length) => {
  const { error, untilTime } = refusal(answer) ?? {}
  expect(untilTime).toBe(NOW + length)
  const until = new Date(NOW + length).toISOString().replace('.000Z', 'Z')
  expect(error).toMatchObject({
    code: 'rate_limited',
    message: `binance answered 418 (I'm a Teapot): this address is banned until ${until}.`,
    data: { status: 418, until },
  })
  expect(error?.suggestions).toEqual([expect.stringMatching(/^Wait until then: /)])
})

describe('403 is the firewall', () => {
  it.each(['binance', OTHER])('of %s', baseUrl => {
    const { error, untilTime = 0 } = refusal(FORBIDDEN, baseUrl) ?? {}
    expect(error).toMatchObject({
      code: 'unreachable',
      message: `${baseUrl} answered 403 (Forbidden): its firewall blocks this address, or too many requests came from it.`,
      suggestions: [
        expect.stringMatching(/^Wait some minutes, .*--concurrency/),
        expect.stringContaining('leave --base-url out'),
      ],
      data: { baseUrl, status: 403 },
    })
    expect(untilTime).toBe(NOW + 600_000)
  })
})

it('403 with a page for countries that are not served is the region', () => {
  const page = { status: 403, headers: {}, body: '<html>This service is not available in your country.</html>' }
  expect(refusal(page)?.error).toMatchObject({
    message: 'binance answered 403 (Forbidden): it does not serve this region.',
    suggestions: [expect.stringContaining('leave --base-url out')],
  })
})

describe('451 is the region', () => {
  const words =
    "Service unavailable from a restricted location according to 'b. Eligibility' in https://www.binance.com/en/terms. Please contact customer service if you believe you received this message in error"
  it.each<[string, PlainAnswer, string]>([
    ['with its words', RESTRICTED, `it does not serve this region: ${words}.`],
    ['with a web page', { status: 451, headers: {}, body: '<html>no</html>' }, 'it does not serve this region.'],
    [
      'with control characters',
      errorAnswer(451, 0, '\u001b[2Jno\u0007\nway.'),
      'it does not serve this region: [2Jno way.',
    ],
  ])('%s', (_, answer, reason) => {
    const { error } = refusal(answer) ?? {}
    expect(error).toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining(`answered 451 (Unavailable For Legal Reasons): ${reason}`.slice(0, 230)),
    })
    expect(error?.message).not.toMatch(/\p{C}/u)
  })

  it('advises the host for market data to those who use another one, and the static service to all', () => {
    const advice = (baseUrl: string) => refusal(RESTRICTED, baseUrl)?.error.suggestions
    const fallback = expect.stringContaining('leave --base-url out')
    expect(advice('binance')).toEqual([fallback])
    expect(advice(OTHER)).toEqual([expect.stringContaining('--base-url binance'), fallback])
  })
})

it.each([200, 404, 429, 500])('%i ends nothing', status => {
  expect(refusal(errorAnswer(status, -1003, `IP banned until ${NOW + 1}.`))).toBeUndefined()
})
