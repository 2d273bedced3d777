import { describe, expect, it } from 'vitest'
import { parseNames } from '../../src/sources/exchange.js'
import { thrownBy } from '../support/thrown-by.js'

const parse = (value: unknown) => parseNames(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)))
const prices = (...symbols: unknown[]) => symbols.map(symbol => ({ symbol, price: '1.00000000' }))

describe('the names of the exchange', () => {
  it('are those of the public service first, in their order, then the others by name', () => {
    expect(parse(prices('ZRXBTC', 'ETHUSDT', '1INCHBTC', 'BTCUSDT', 'AAVEBTC'))).toEqual({
      symbols: ['BTCUSDT', 'ETHUSDT', '1INCHBTC', 'AAVEBTC', 'ZRXBTC'],
      unusable: [],
    })
  })

  it('may be of any script', () => {
    expect(parse(prices('币安人生USDT', 'ÉUSDT', 'X'.repeat(40)))).toEqual({
      symbols: ['X'.repeat(40), 'ÉUSDT', '币安人生USDT'],
      unusable: [],
    })
  })

  it('count once', () => {
    expect(parse(prices('ETHBTC', 'ETHBTC')).symbols).toEqual(['ETHBTC'])
  })

  it.each([
    '①USDT',
    'éUSDT',
    'E\u0301USDT',
    'btcusdt',
    'BTC-USDT',
    'BTC_USDT',
    'BTC.D',
    'A',
    '',
    'X'.repeat(41),
    '币'.repeat(14),
    '../../etc',
    'A/B',
    'A B',
    'AB\u0000',
  ])('that cannot be a path are left out: %j', name => {
    expect(parse(prices('ETHBTC', name))).toEqual({ symbols: ['ETHBTC'], unusable: [name] })
  })

  it('can be 3,500, and 50,000', () => {
    const names = (count: number) => Array.from({ length: count }, (_, index) => `N${index}USDT`)
    expect(parse(prices(...names(3_500))).symbols).toHaveLength(3_500)
    expect(parse(prices(...names(50_000))).symbols).toHaveLength(50_000)
    expect(thrownBy(() => parse(prices(...names(50_001)))).message).toMatch(/50001 entries, expected at most 50000/)
  })

  it('may be none', () => {
    expect(parse([])).toEqual({ symbols: [], unusable: [] })
  })

  it.each([
    ['', /it is not JSON/, 'not_json'],
    ['<html>', /it is not JSON/, 'not_json'],
    ['[{"symbol":"ETHBTC"', /it is not JSON/, 'not_json'],
    ['{"symbols":[]}', /it is not an array/, 'shape'],
    ['null', /it is not an array/, 'shape'],
    ['[null]', /entry 0 has no symbol/, 'shape'],
    ['["ETHBTC"]', /entry 0 has no symbol/, 'shape'],
    ['[{"symbol":"ETHBTC"},{"price":"1"}]', /entry 1 has no symbol/, 'shape'],
    ['[{"symbol":7}]', /entry 0 has no symbol/, 'shape'],
    ['[[]]', /entry 0 has no symbol/, 'shape'],
    ['[{"__proto__":{"symbol":"ETHBTC"}}]', /entry 0 has no symbol/, 'shape'],
    ['['.repeat(100_000), /it is not JSON/, 'not_json'],
  ])('%.30s is refused', (text, message, kind) => {
    const error = thrownBy(() => parse(text))
    expect(error).toMatchObject({ code: 'bad_list', data: { kind } })
    expect(error.message).toMatch(message)
  })

  it('are refused when they are not UTF-8, or larger than 8 MiB', () => {
    const latin = Buffer.from('[{"symbol":"\xc9BTC"}]', 'latin1')
    expect(thrownBy(() => parseNames(latin)).message).toMatch(/it is not JSON/)
    const large = Buffer.alloc(8 * 1024 * 1024 + 1, ' ')
    expect(thrownBy(() => parseNames(large)).message).toMatch(/8388609 bytes, expected at most 8388608/)
  })
})
