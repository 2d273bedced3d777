import { describe, expect, it } from 'vitest'
import { exchangeMayHaveMore, PUBLIC_BASE_URL, parseBaseUrl, toSourceName } from '../../src/candles/base-url.js'
import { catchError } from '../support/errors.js'

describe('parseBaseUrl', () => {
  it.each([
    ['http://127.0.0.1:8787', 'http://127.0.0.1:8787'],
    ['http://127.0.0.1:8787/', 'http://127.0.0.1:8787'],
    ['  https://finom.github.io/static-klines///  ', 'https://finom.github.io/static-klines'],
    ['HTTPS://Example.COM:443/Klines', 'https://example.com/Klines'],
    ['http://[::1]:80/', 'http://[::1]'],
    ['https://example.com/apiary', 'https://example.com/apiary'],
  ])('turns %j into %s', (text, expected) => {
    expect(parseBaseUrl(text)).toBe(expected)
  })

  it('leaves the address of the public instance as it is', () => {
    expect(PUBLIC_BASE_URL).toBe('https://finom.github.io/static-klines')
    expect(parseBaseUrl(PUBLIC_BASE_URL)).toBe(PUBLIC_BASE_URL)
  })

  it.each([
    ['', 'it is not a URL', []],
    ['nonsense here', 'it is not a URL', []],
    ['example.com/klines', 'it is not a URL', ['Did you mean https://example.com/klines?']],
    ['api.binance.com', 'it is not a URL', []],
    ['localhost:8787', 'it is not a URL', ['Did you mean http://localhost:8787?']],
    ['127.0.0.1:8787', 'it is not a URL', ['Did you mean http://127.0.0.1:8787?']],
    ['ftp://example.com', 'it begins with ftp:', []],
    ['file:///etc/passwd', 'it begins with file:', []],
    ['http://me:secret@example.com', 'a user name or password', []],
    ['http://me@example.com', 'a user name or password', []],
    ['http://example.com?x=1', 'it has a query or a fragment', []],
    ['http://example.com/#a', 'it has a query or a fragment', []],
    ['http://example.com/api', 'it includes /api', ['Did you mean http://example.com?']],
    ['http://example.com/k/api/klines/', 'it includes /api', ['Did you mean http://example.com/k?']],
  ])('rejects %j: %s', async (text, reason, suggestions) => {
    expect(await catchError(() => parseBaseUrl(text))).toMatchObject({
      code: 'bad_base_url',
      message: expect.stringContaining(reason),
      suggestions,
    })
  })

  it.each([
    ['Binance', 'it is no static', ['Did you mean binance?']],
    ['binanc', 'it is no static', ['Did you mean binance?']],
    ['samples', 'it is no static', ['Did you mean sample?']],
    ['exchange', 'it is not a URL', []],
    ['https://api.binance.com', 'it is no static', ['Did you mean binance?']],
    ['binance.com', 'it is no static', ['Did you mean binance?']],
    ['data.binance.vision', 'it is no static', ['Did you mean binance?']],
    ['https://www.binance.com/en', 'it is no static', ['Did you mean binance?']],
    ['api.binance.us', 'it is no static', ['Did you mean binance:https://api.binance.us?']],
    ['binanceus', 'it is no static', ['Did you mean binance:https://api.binance.us?']],
    ['fapi.binance.com', 'it is no static', ['Did you mean binance-usdm?']],
    ['https://fapi.binance.com', 'it is no static', ['Did you mean binance-usdm?']],
    ['fapi', 'it is no static', ['Did you mean binance-usdm?']],
    ['binance-futures', 'it is no static', ['Did you mean binance-usdm?']],
    ['binanceusdm', 'it is no static', ['Did you mean binance-usdm?']],
    ['binance-usdm:', '"binance-usdm:" is not a base address: it is not a URL', []],
    ['binance-usdm-mark:https://h/fapi/v1', 'it includes /fapi', ['Did you mean binance-usdm-mark:https://h?']],
    ['binance:', '"binance:" is not a base address: it is not a URL', []],
    ['binance:api.binance.com', 'it is not a URL', []],
    ['binance:https://h/api/v3', 'it includes /api', ['Did you mean binance:https://h?']],
    ['binance:https://me:sec@ret@h', '"binance:https://***@h" is not a base address: a user name', []],
  ])('rejects the exchange as %j: %s', async (text, reason, suggestions) => {
    expect(await catchError(() => toSourceName(text))).toMatchObject({
      code: 'bad_base_url',
      message: expect.stringContaining(reason),
      suggestions,
    })
  })

  it.each([
    [' binance ', 'binance', false],
    ['binance:https://data-api.binance.vision/', 'binance', false],
    ['binance:https://API.binance.com', 'binance:https://api.binance.com', false],
    ['sample', 'sample', false],
    ['http://sample/', 'http://sample', true],
  ])('%j is the source %s, of which the exchange may have more: %s', (text, name, hasLess) => {
    expect([toSourceName(text), exchangeMayHaveMore(name)]).toEqual([name, hasLess])
  })
})
