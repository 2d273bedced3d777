import { describe, expect, it } from 'vitest'
import { isSymbol, parseSymbol, toSymbolName } from '../../../src/candles/symbols.js'
import { parseInstant } from '../../../src/candles/time-range.js'
import { formatAddress, parseAddress } from '../../../src/server/viewer/address.js'

describe('a symbol in the address of the candle viewer', () => {
  const names = ['BTCUSDT', '币安人生USDT', 'ÑANDÚUSDT', '币'.repeat(13), '\u{10400}\u{10401}']

  it.each(names)('%s is the same as elsewhere, in every spelling, and encoded', name => {
    for (const spelling of [name, name.toLowerCase(), name.normalize('NFD'), ` ${[...name].join('/')} `]) {
      expect(toSymbolName(spelling), spelling).toBe(parseSymbol(spelling))
    }
    expect(isSymbol(name)).toBe(true)
    const pathname = formatAddress({ symbol: name, interval: '1d' }, { range: undefined, isLog: false, isLocal: false })
    expect(pathname).toMatch(/^[ -~]+$/)
    expect(parseAddress({ pathname, search: '' })).toMatchObject({ symbol: name, interval: '1d' })
  })

  it.each(['A', '', 'BTC.D', 'BTC USDT', '<b>X</b>', '币\u202e安', '币'.repeat(41)])('%j is none', text => {
    expect(isSymbol(toSymbolName(text))).toBe(false)
  })
})

describe('the times in the address of the candle viewer', () => {
  const NOW = Date.UTC(2025, 2, 14, 15, 9, 26, 535)
  const read = (query: string) => {
    const { range, problem } = parseAddress({ pathname: '/chart/BTCUSDT/1h', search: query && `?${query}` }, NOW)
    return { range, problem }
  }

  it.each([
    ['1704067200', Date.UTC(2024, 0)],
    ['2024-02', Date.UTC(2024, 1)],
    ['2024-02-29T12:30', Date.UTC(2024, 1, 29, 12, 30)],
    ['2024-02-29T12:30+02:00', Date.UTC(2024, 1, 29, 10, 30)],
    ['now', NOW],
    [' yesterday ', Date.UTC(2025, 2, 13)],
    ['-7d', NOW - 7 * 86_400_000],
  ])('%j is the time that the command line reads', (text, time) => {
    expect(parseInstant(text, NOW)).toBe(time)
    const value = encodeURIComponent(text)
    expect(read(`from=${value}`)).toEqual({ range: { fromTime: time, toTime: Infinity } })
    expect(read(`to=${value}`)).toEqual({ range: { fromTime: -Infinity, toTime: time } })
  })

  it('`last` counts back from now, or from `to`', () => {
    expect(read('last=7d')).toEqual({ range: { fromTime: NOW - 7 * 86_400_000, toTime: NOW } })
    const range = { fromTime: Date.UTC(2024, 0), toTime: Date.UTC(2024, 1) }
    expect(read('last=1M&to=2024-02')).toEqual({ range })
    expect(read('last=90').problem).toMatch(/^"90" is not a length of time\./)
    expect(read('last=7d&from=2024').problem).toMatch(/^--from and --last both say/)
  })

  it.each(['', 'banana', '2024-02-31', '2024-02-29T25:00', '0', '-7x'])(
    '%j is refused with the sentence of the command line',
    text => {
      let sentence = ''
      try {
        parseInstant(text, NOW)
      } catch (error) {
        sentence = (error as Error).message
      }
      expect(sentence).toMatch(/^".*" is not a point in time\./)
      for (const query of [`from=${text}`, `to=${text}`, `from=${text}&to=2025`])
        expect(read(query)).toEqual({ range: undefined, problem: sentence })
    },
  )

  it('a range needs its start before its end; without one, the newest candles are shown', () => {
    const range = { fromTime: Date.UTC(2024, 0), toTime: Date.UTC(2025, 0) }
    expect(read('from=2024&to=2025')).toEqual({ range })
    for (const query of ['from=2025&to=2024', 'from=2024&to=1704067200'])
      expect(read(query)).toEqual({ range: undefined, problem: expect.stringMatching(/^The range is empty: from /) })
    expect(read('')).toEqual({ range: undefined })
  })
})
