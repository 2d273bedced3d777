import { describe, expect, test } from 'vitest'
import { isSymbol, parseSymbol, SYMBOLS } from '../../src/klines/symbols.js'
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
