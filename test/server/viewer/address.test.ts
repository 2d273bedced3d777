import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSymbol, parseSymbol } from '../../../src/klines/symbols.js'
import { formatAddress, knownSeries, parseAddress, toSymbol } from '../../../src/server/viewer/chart/address.js'

describe('a symbol in the address of the candle viewer', () => {
  const names = [
    'BTCUSDT',
    '币安人生USDT',
    'ÑANDÚUSDT',
    'हिन्दीINR',
    'ǰUSD',
    'עִבְרִית',
    '币'.repeat(13),
    '\u{10400}\u{10401}',
  ]

  it.each(names)('%s is the same as elsewhere, in every spelling, and encoded', name => {
    for (const spelling of [name, name.toLowerCase(), name.normalize('NFD'), ` ${[...name].join('/')} `]) {
      expect(toSymbol(spelling), spelling).toBe(parseSymbol(spelling))
    }
    expect(knownSeries(name, '1d')).toEqual({ symbol: name, interval: '1d' })
    const pathname = formatAddress({ symbol: name, interval: '1d' }, { range: undefined, isLog: false, isLocal: false })
    expect(pathname).toMatch(/^[ -~]+$/)
    expect(parseAddress({ pathname, search: '' })).toMatchObject({ symbol: name, interval: '1d', problem: undefined })
  })

  it('is spelled as the server spells it, whatever it is made of', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 2, maxLength: 8 }), text => {
        const symbol = toSymbol(text)
        if (isSymbol(symbol)) expect(parseSymbol(text)).toBe(symbol)
        else expect(() => parseSymbol(text)).toThrow()
      }),
      { numRuns: 1000 },
    )
  })

  it.each(['A', '', 'BTC.D', 'BTC USDT', '<b>X</b>', '币\u202e安', '币'.repeat(41)])('%j is none', text => {
    expect(knownSeries(toSymbol(text), '1d')).toBeUndefined()
  })
})
