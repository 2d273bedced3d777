import { describe, expect, it } from 'vitest'
import { findError, InvalidSymbolError, parseFault } from '../../src/sources/exchange-api.js'
import type { FetchErrorKind } from '../../src/sources/retry.js'
import {
  ANSI_MESSAGE,
  ERROR_UNDER_200,
  errorAnswer,
  FORBIDDEN,
  INTERNAL_ERROR,
  illegalCharacters,
  jsonAnswer,
  OVERLOADED,
  type PlainAnswer,
  tooManyRequests,
  UNKNOWN_SYMBOL,
} from '../support/exchange/exchange-answers.js'

const error = ({ status, headers, body }: PlainAnswer) =>
  findError({ status, headers, body: Buffer.from(body), wireBytes: body.length })

describe('an answer of the exchange', () => {
  it.each<[string, PlainAnswer, FetchErrorKind, boolean, string | RegExp]>([
    ['-1121: no such symbol', UNKNOWN_SYMBOL, 'permanent', false, 'status 400: Invalid symbol. (code -1121)'],
    [
      '-1100: a character',
      illegalCharacters('symbol', 'x'),
      'permanent',
      false,
      /^status 400: Illegal characters .* \(code -1100\)$/,
    ],
    [
      '429: too much',
      tooManyRequests(7),
      'transient',
      true,
      /^status 429: Too much request weight used; .*\(code -1003\)$/,
    ],
    ['-1000 with 500', INTERNAL_ERROR, 'transient', true, /^status 500: .* \(code -1000\)$/],
    ['-1008 with 503', OVERLOADED, 'transient', true, /\(code -1008\)$/],
    ...[-1000, -1001, -1007, -1008].map((code): [string, PlainAnswer, FetchErrorKind, boolean, string] => [
      `${code} with 400`,
      errorAnswer(400, code, 'Unknown.'),
      'transient',
      true,
      `status 400: Unknown. (code ${code})`,
    ]),
    ['an unknown code', errorAnswer(400, -4711, 'New.'), 'permanent', false, 'status 400: New. (code -4711)'],
    ['500 without an error object', { ...INTERNAL_ERROR, body: '<html>' }, 'transient', true, 'status 500'],
    ['403 with a page', FORBIDDEN, 'permanent', false, 'status 403'],
    ['a code alone', { status: 400, headers: {}, body: '{"code":-1}' }, 'permanent', false, 'status 400 (code -1)'],
    ['206', { status: 206, headers: {}, body: '[]' }, 'invalid', false, 'status 206, which was not requested'],
    ['an error object under 200', ERROR_UNDER_200, 'invalid', false, /^status 200: An unknown error .*\(code -1000\)$/],
  ])('%s', (_, answer, kind, unreachable, message) => {
    expect(error(answer)).toMatchObject({ kind, unreachable, status: answer.status })
    expect(error(answer)?.message).toMatch(message)
    expect(error(answer) instanceof InvalidSymbolError).toBe(answer === UNKNOWN_SYMBOL)
  })

  it.each<[string, PlainAnswer]>([
    ['rows', jsonAnswer([[1]])],
    // The parser says what is wrong with these.
    ['a page', { status: 200, headers: {}, body: '<html>' }],
    ['an object', jsonAnswer({ serverTime: 1 })],
  ])('%s under 200 is no error', (_, answer) => {
    expect(error(answer)).toBeUndefined()
  })

  it('-1121 under 200 is no unknown symbol: only the exchange itself decides that, with 400', () => {
    const answer = error({ ...UNKNOWN_SYMBOL, status: 200 })
    expect(answer).toMatchObject({ kind: 'invalid' })
    expect(answer).not.toBeInstanceOf(InvalidSymbolError)
  })

  it('is one clean line', () => {
    expect(error(ANSI_MESSAGE)?.message).toBe('status 400: [2J [31mred [0m and a second line (code -1000)')
  })
})

describe('an error object', () => {
  const fault = (text: string) => parseFault(Buffer.from(text))

  it.each([
    ['{"code":-1121,"msg":"Invalid symbol."}', { code: -1121, message: 'Invalid symbol.' }],
    ['{"code":-1}', { code: -1, message: '' }],
    ['{"code":-1,"msg":{"a":1}}', { code: -1, message: '' }],
    ['{"code":-1,"msg":"x","__proto__":{"code":5}}', { code: -1, message: 'x' }],
  ])('%s', (text, expected) => {
    expect(fault(text)).toEqual(expected)
  })

  it.each(['', '[]', '{"code":"-1"}', '{"code":1.5}', '{"code":-1,', 'null', '<html>'])('%j is none', text => {
    expect(fault(text)).toBeUndefined()
  })

  it('with a long message is cut', () => {
    const object = (length: number) => `{"code":-1,"msg":"${'x'.repeat(length)}"}`
    expect(fault(object(60_000))?.message).toBe(`${'x'.repeat(200)}...`)
    expect(fault(`{"code":-1,"msg":${'['.repeat(30_000)}${']'.repeat(30_000)}}`)?.code).toBe(-1)
  })
})
