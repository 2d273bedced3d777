import { expect, it } from 'vitest'
import { unreachable } from '../../src/sources/errors.js'
import { FetchError, toFetchError } from '../../src/sources/fetch-error.js'

const URL = 'http://example.com/klines'
const fault = (code: string) => toFetchError(Object.assign(new Error(code), { code }))
const status = (number: number, words?: string, isTransient = true) =>
  new FetchError('transient', `status ${number}`, { status: number, words, unreachable: isTransient })

it.each<[FetchError, number, string, RegExp]>([
  [status(503), 6, 'answered 503 (Service Unavailable); tried 6 times for the list', /^Try again later/],
  [status(404, undefined, false), 1, 'answered 404 (Not Found) for the list', /--base-url sample/],
  [
    fault('ECONNREFUSED'),
    6,
    'cannot be reached: connection refused (ECONNREFUSED); tried 6 times for the list',
    /^Check/,
  ],
  [fault('ENOTFOUND'), 1, 'cannot be reached: no such host (ENOTFOUND)', /--base-url; --base-url sample/],
  [
    new FetchError('transient', 'no whole answer within 30 s', { unreachable: true, timedOut: true }),
    4,
    'cannot be reached: no whole answer within 30 s; tried 4 times for the list',
    /--timeout/,
  ],
  [
    new FetchError('invalid', 'The list is refused: it is not JSON.', { notJson: true }),
    3,
    'did not answer with JSON; tried 3 times for the list',
    /sign-in page/,
  ],
  [
    new FetchError('permanent', 'more than 3 redirects', { status: 302 }),
    1,
    'sent a response that cannot be used: more than 3 redirects for the list',
    /--base-url/,
  ],
])('the error for a service says what happened: %s', (failure, tries, expected, advice) => {
  failure.tries = tries
  const error = unreachable(URL, failure, 'the list')
  expect(error).toMatchObject({
    code: 'unreachable',
    message: `The service at ${URL} ${expected}.`,
    suggestions: [expect.stringMatching(advice), expect.stringContaining('klines export')],
    data: { baseUrl: URL, tries, reason: failure.message },
    cause: failure,
  })
  expect(error.data.status).toBe(failure.status)
})

it.each([
  [new FetchError('permanent', 'moved', { status: 301, movedTo: 'https://b.test/k' }), URL, false, 'https://b.test/k'],
  [
    new FetchError('permanent', 'moved', { status: 301, movedTo: 'https://b.test' }),
    'binance:http://a.test',
    false,
    'binance:https://b.test',
  ],
  [new FetchError('permanent', 'status 404', { status: 404 }), URL, true, `binance:${URL}`],
  [new FetchError('permanent', 'moved', { status: 301, movedTo: 'https://api.binance.com' }), URL, false, undefined],
])('the error of a service that is elsewhere names the address: %s, %s', (failure, name, isExchangeHost, place) => {
  const [advice] = unreachable(name, failure, 'the list', isExchangeHost).suggestions
  if (place) expect(advice).toMatch(new RegExp(`^Run the same command with --base-url ${place}\\.$`))
  else expect(advice).not.toContain('Run the same command')
})

it.each([
  ['EAI_AGAIN', 'transient', false, undefined],
  ['ENOTFOUND', 'permanent', false, undefined],
  ['UND_ERR_HEADERS_TIMEOUT', 'transient', true, undefined],
  ['CERT_HAS_EXPIRED', 'permanent', false, undefined],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'permanent', false, expect.stringMatching(/^NODE_EXTRA_CA_CERTS=/)],
])('%s is %s', (code, kind, timedOut, advice) => {
  expect(fault(code)).toMatchObject({ kind, timedOut, advice })
})
