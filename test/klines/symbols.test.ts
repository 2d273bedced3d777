import { describe, expect, test } from 'vitest'
import {
  isSymbol,
  isSymbolPattern,
  matchSymbols,
  parseSymbol,
  SYMBOLS,
  type SymbolPattern,
  sortSymbols,
  unknownSymbols,
} from '../../src/klines/symbols.js'
import { thrownBy } from '../support/thrown-by.js'

describe('parseSymbol', () => {
  test('SYMBOLS are the ten of the service, in its order', () => {
    expect(SYMBOLS.join(' ')).toBe('BTCUSDT ETHUSDT BNBUSDT SOLUSDT XRPUSDT ADAUSDT DOGEUSDT AVAXUSDT LINKUSDT DOTUSDT')
  })

  test.each(['BTCUSDT', 'btcusdt', 'BtcUsdt', 'BTC/USDT', 'btc/usdt', 'BTC-USDT', 'BTC_USDT', ' BTCUSDT\n'])(
    'accepts %j',
    text => {
      expect(parseSymbol(text)).toBe('BTCUSDT')
    },
  )

  test.each([
    ['pepe/usdt', 'PEPEUSDT'],
    ['1000SATSUSDT', '1000SATSUSDT'],
    ['A2', 'A2'],
    ['ABCDEFGHIJ0123456789', 'ABCDEFGHIJ0123456789'],
  ])('accepts any name of that form: %j', (text, name) => {
    expect(parseSymbol(text)).toBe(name)
    expect(isSymbol(name)).toBe(true)
  })

  test.each([
    ['', []],
    ['A', []],
    ['A'.repeat(21), []],
    ['BTCUSDT+', ['Did you mean BTCUSDT?']],
    ['币安人生USDT', []],
    ['../../etc/passwd', []],
  ])('refuses %j, with the suggestions %j', (text, suggestions) => {
    const error = thrownBy(() => parseSymbol(text))
    expect(error.code).toBe('unknown_symbol')
    expect(error.message).toBe(`Unknown symbol "${text}". Expected 2 to 20 letters A-Z and digits, such as BTCUSDT.`)
    expect(error.suggestions).toEqual(suggestions)
    expect(isSymbol(text)).toBe(false)
  })

  test.each([
    ['BTC', 'BTCUSDT'],
    ['XBTUSDT', 'BTCUSDT'],
    ['BTCUSD', 'BTCUSDT'],
    ['DOGEUSD', 'DOGEUSDT'],
    ['ETHUDST', 'ETHUSDT'],
  ])('%s suggests %s where the source has it', (name, near) => {
    const error = unknownSymbols([name], SYMBOLS, 'the service')
    expect(error).toMatchObject({ code: 'unknown_symbol', suggestions: [`Did you mean ${near}?`] })
    expect(error.message).toBe(
      `Unknown symbol "${name}"; the service has no such symbol. Expected one of ${SYMBOLS.join(', ')}.`,
    )
  })

  test('several unknown names are one error, and thousands of known ones are not listed', () => {
    const names = Array.from({ length: 3_500 }, (_, index) => `C${index}USDT`)
    const error = unknownSymbols(['C17USD', 'AAPL'], names, 'binance')
    expect(error.message).toBe('Unknown symbols: C17USD, AAPL; binance has no such symbol.')
    expect(error.suggestions).toEqual(['Did you mean C17USDT?'])
  })

  test('names are sorted with the ten first', () => {
    expect(sortSymbols(['ZECUSDT', 'DOTUSDT', 'AAVEUSDT', 'BTCUSDT', 'DOTUSDT'])).toEqual([
      'BTCUSDT',
      'DOTUSDT',
      'AAVEUSDT',
      'ZECUSDT',
    ])
  })
})

describe('a pattern', () => {
  test.each<[SymbolPattern, string[]]>([
    ['*USDT', [...SYMBOLS]],
    ['*', [...SYMBOLS]],
    ['BTC*', ['BTCUSDT']],
    ['btc*', ['BTCUSDT']],
    ['btc/*', ['BTCUSDT']],
    ['A*', ['ADAUSDT', 'AVAXUSDT']],
    ['*A*A*', ['ADAUSDT', 'AVAXUSDT']],
    ['D**T', ['DOGEUSDT', 'DOTUSDT']],
    ['????USDT', ['DOGEUSDT', 'AVAXUSDT', 'LINKUSDT']],
    ['?OTUSDT', ['DOTUSDT']],
    ['BTCUSDT*', ['BTCUSDT']],
  ])('%s matches %j', (pattern, expected) => {
    expect(isSymbolPattern(pattern)).toBe(true)
    expect(matchSymbols(pattern, SYMBOLS)).toEqual(expected)
  })

  test.each<SymbolPattern>(['XYZ*', '*BTC', '?BTCUSDT', 'BTC.*', '[AB]*', '*|*', '.*T(*'])(
    '%s matches nothing',
    pattern => {
      const error = thrownBy(() => matchSymbols(pattern, ['BTCUSDT', 'ETHUSDT']))
      expect(error).toMatchObject({
        code: 'unknown_symbol',
        message: `No symbol matches "${pattern}". There are BTCUSDT, ETHUSDT.`,
      })
    },
  )

  test('matches only the names that there are', () => {
    expect(matchSymbols('*', ['ETHUSDT'])).toEqual(['ETHUSDT'])
    expect(thrownBy(() => matchSymbols('*', [])).message).toBe('No symbol matches "*". There are no symbols.')
  })

  test('that a shell replaced by the name of a file is refused with advice', () => {
    expect(thrownBy(() => parseSymbol('BTCUSDT-1h.csv')).suggestions).toEqual([
      "Is it the name of a file? Quote a pattern, as in '*USDT': a shell replaces it by the names of files otherwise.",
    ])
  })
})
