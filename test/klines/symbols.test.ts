import { describe, expect, test } from 'vitest'
import {
  isSymbol,
  isSymbolPattern,
  matchSymbols,
  parseSymbol,
  SYMBOLS,
  type SymbolPattern,
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
    ['BTC', ['Did you mean BTCUSDT?']],
    ['xbtusdt', ['Did you mean BTCUSDT?']],
    ['BTCUSD', ['Did you mean BTCUSDT?']],
    ['DOGE/USD', ['Did you mean DOGEUSDT?']],
    ['ETHUDST', ['Did you mean ETHUSDT?']],
    ['', []],
    ['__proto__', []],
    ['AAPL', []],
    ['../../etc/passwd', []],
  ])('refuses %j, with the suggestions %j', (text, suggestions) => {
    const error = thrownBy(() => parseSymbol(text))
    expect(error.code).toBe('unknown_symbol')
    expect(error.message).toBe(`Unknown symbol "${text}". Expected one of ${SYMBOLS.join(', ')}.`)
    expect(error.suggestions).toEqual(suggestions)
    expect(isSymbol(text)).toBe(false)
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
