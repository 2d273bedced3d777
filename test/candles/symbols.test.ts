import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  isSymbol,
  isSymbolPattern,
  matchSymbols,
  parseSymbol,
  SYMBOLS,
  type SymbolPattern,
  splitSymbol,
  unknownSymbols,
} from '../../src/candles/symbols.js'
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
    ['A'.repeat(40), 'A'.repeat(40)],
    ['币安人生usdt', '币安人生USDT'],
    ['btcusdt_261225', 'BTCUSDT_261225'],
    ['BTC/USDT-261225', 'BTCUSDT_261225'],
    // Composed letters, each in upper case where it has one.
    ['n\u0303andu\u0301', 'ÑANDÚ'],
    ['straße', 'STRASSE'],
    // Letters of kana and Hangul in parts.
    ['か\u3099くふ', 'がくふ'],
    ['\u1112\u1161\u11ab\u1100\u116e\u11a8', '한국'],
    // Scripts whose vowels are marks.
    ['हिन्दी', 'हिन्दी'],
    ['٣٤', '٣٤'],
  ])('accepts any name of that form: %j', (text, name) => {
    expect(parseSymbol(text)).toBe(name)
    expect(isSymbol(name)).toBe(true)
  })

  test.each([
    ['', []],
    ['A', []],
    ['A'.repeat(41), []],
    ['币'.repeat(14), []],
    ['BTCUSDT+', ['Did you mean BTCUSDT?']],
    ['BTCUSDT_', ['Did you mean BTCUSDT?']],
    ['BTC/USDT:USDT', ['Did you mean BTCUSDT?', 'The future is BTCUSDT with --base-url binance-usdm.']],
    ['../../etc/passwd', []],
  ])('refuses %j, with the suggestions %j', (text, suggestions) => {
    const error = thrownBy(() => parseSymbol(text))
    expect(error.code).toBe('unknown_symbol')
    expect(error.message).toBe(
      `Unknown symbol "${text}". Expected 2 or more letters and digits, at most 40 bytes of UTF-8, such as BTCUSDT.`,
    )
    expect(error.suggestions).toEqual(suggestions)
    expect(isSymbol(text)).toBe(false)
  })

  test.each([
    ['BTC', 'BTCUSDT'],
    ['XBTUSDT', 'BTCUSDT'],
    ['BTCUSD', 'BTCUSDT'],
  ])('%s suggests %s where the source has it', (name, near) => {
    const error = unknownSymbols([name], SYMBOLS, 'the service')
    expect(error).toMatchObject({ code: 'unknown_symbol', suggestions: [`Did you mean ${near}?`] })
    expect(error.message).toBe(
      `Unknown symbol "${name}"; the service has no such symbol. Expected one of ${SYMBOLS.join(', ')}.`,
    )
    const many = Array.from({ length: 21 }, (_, index) => `A${index}`)
    expect(unknownSymbols([name], many, 'it').message).toBe(`Unknown symbol "${name}"; it has no such symbol.`)
    expect(unknownSymbols(['XYZ', name], SYMBOLS, 'it').suggestions).toEqual([`Did you mean ${near}?`])
  })
})

describe('a name in any script', () => {
  /** Characters of all kinds: letters, marks, numbers, signs, invisible ones, and those that others compose to. */
  const characters = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...'abcXYZ019ßǰŉﬁÅé币한かगกىµſıİ') },
    { weight: 2, arbitrary: fc.constantFrom('गि', 'ก็', 'e\u0301', 'か\u3099', '\u1112\u1161') },
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom(...'\u0301\u0307\u3099\u093c\u094d\u1161\u11a8\u200d\ufe0f\u202e\u034f'),
  )
  const texts = fc.array(characters, { maxLength: 14 }).map(parts => parts.join(''))

  test('has one spelling: composed, in upper case, without anything that nobody sees, at most 40 bytes', () => {
    const seen = { names: 0, others: 0 }
    fc.assert(
      fc.property(texts, text => {
        const spellings = [text, text.normalize('NFD'), text.normalize('NFC'), ` ${text}\n`]
        const names = spellings.map(spelling => {
          try {
            return parseSymbol(spelling)
          } catch {
            return undefined
          }
        })
        expect(new Set(names).size).toBe(1)
        const [name] = names
        seen[name === undefined ? 'others' : 'names']++
        expect(isSymbol(text)).toBe(name === text)
        if (name === undefined) return
        expect([isSymbol(name), parseSymbol(name), name.normalize('NFC')]).toEqual([true, name, name])
        expect(Buffer.from(name).toString()).toBe(name)
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(40)
        // What a path, a URL, a shell, a terminal or a file system could take for something else.
        expect(name).toMatch(/^[\p{L}\p{Nd}\p{Mn}\p{Mc}]+$/u)
        expect(name).not.toMatch(/^\p{M}|\p{DI}|[a-z]/u)
        expect(decodeURIComponent(encodeURIComponent(name))).toBe(name)
      }),
      { numRuns: 1000 },
    )
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(40)
  })

  test.each([
    ['X\u0301', 'an accent that is not composed'],
    ['AB\ufe0f', 'a variation selector'],
    ['A\u115fB', 'a letter that nobody sees'],
    ['A\u202eB', 'a mark for the direction of writing'],
    ['A\u0000B', 'a control character'],
    ['A%41', 'an escape'],
    ['①②', 'numbers in circles'],
    ['\ud800A', 'half a character'],
    ['btcusdt', 'lower case'],
  ])('%j is none: %s', text => {
    expect(isSymbol(text)).toBe(false)
  })
})

describe('a pattern', () => {
  test.each<[SymbolPattern, string[]]>([
    ['*USDT', [...SYMBOLS]],
    ['*', [...SYMBOLS]],
    ['BTC*', ['BTCUSDT']],
    ['A*', ['ADAUSDT', 'AVAXUSDT']],
    ['????USDT', ['DOGEUSDT', 'AVAXUSDT', 'LINKUSDT']],
    ['?OTUSDT', ['DOTUSDT']],
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

  test('matches names in any script, a question mark one letter of them', () => {
    const names = ['币安人生USDT', 'ÑANDÚUSDT', '\u{10400}\u{10401}', 'BTCUSDT']
    expect(matchSymbols('币*', names)).toEqual(['币安人生USDT'])
    expect(matchSymbols('????usdt', names)).toEqual(['币安人生USDT'])
    expect(matchSymbols('n\u0303*u\u0301usdt', names)).toEqual(['ÑANDÚUSDT'])
    expect(matchSymbols('?\u{10429}', names)).toEqual(['\u{10400}\u{10401}'])
  })
})

describe('splitSymbol', () => {
  test.each([
    ['BTCUSDT', 'BTC', 'USDT'],
    ['ETHBTC', 'ETH', 'BTC'],
    // FDUSD is longer than USD1, and no asset FDUS is quoted in D.
    ['BTCFDUSD', 'BTC', 'FDUSD'],
    ['币安人生USDT', '币安人生', 'USDT'],
  ])('%s is %s in %s', (symbol, base, quote) => expect(splitSymbol(symbol)).toEqual({ base, quote }))

  test.each(['USDT', 'ABCDEFG'])('%s has no quote that is known', symbol => expect(splitSymbol(symbol)).toBeUndefined())
})
