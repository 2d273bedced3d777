import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EXCHANGE_INTERVALS, INTERVALS, MINUTE_INTERVALS } from '../../src/candles/intervals.js'
import {
  intervalSegment,
  parseIntervalSegment,
  parseTreePath,
  SYMBOLS_PATH,
  startDatesPath,
  windowPath,
} from '../../src/candles/paths.js'
import { SYMBOLS } from '../../src/candles/symbols.js'
import { exchangeStartDates, knownStartDates } from '../../src/candles/windows.js'

const intervals = INTERVALS.map(interval => ({ interval, startDates: knownStartDates(interval) }))
const minutes = MINUTE_INTERVALS.map(interval => ({
  interval,
  startDates: exchangeStartDates(interval, Date.UTC(2026, 3, 30)),
}))
const windows = fc
  .tuple(fc.constantFrom(...SYMBOLS, '币安人生USDT', 'हिन्दीINR', 'ÑANDÚ'), fc.constantFrom(...intervals, ...minutes))
  .chain(([symbol, { interval, startDates }]) =>
    fc.constantFrom(...startDates).map(startDate => ({ symbol, interval, startDate })),
  )

describe('the path of a file in the tree', () => {
  test("is the one in the service's OpenAPI description", () => {
    expect(SYMBOLS_PATH).toBe('api/klines/symbols.json')
    expect(startDatesPath('1M')).toBe('api/klines/start-dates/1M.json')
    expect(startDatesPath('1m')).toBe('api/klines/start-dates/1min.json')
    expect(windowPath({ interval: '1m', symbol: 'DOTUSDT', startDate: '2024-12-31' })).toBe(
      'api/klines/1min/DOTUSDT/2024-12-31.json',
    )
    expect(windowPath({ interval: '15m', symbol: 'DOTUSDT', startDate: '2024-12-30' })).toBe(
      'api/klines/15m/DOTUSDT/2024-12-30.json',
    )
  })

  test('is parsed back to the window it was built from', () => {
    fc.assert(
      fc.property(windows, window => {
        expect(parseTreePath(windowPath(window))).toEqual({ kind: 'window', window })
      }),
      { numRuns: 1000 },
    )
  })

  test('is parsed back to the list it was built from', () => {
    expect(parseTreePath('api/klines/symbols.json')).toEqual({ kind: 'symbols' })
    for (const interval of EXCHANGE_INTERVALS) {
      expect(parseTreePath(startDatesPath(interval))).toEqual({ kind: 'startDates', interval })
    }
  })

  test('differs for every two windows', () => {
    const paths = intervals.flatMap(({ interval, startDates }) =>
      SYMBOLS.flatMap(symbol => startDates.map(startDate => windowPath({ interval, symbol, startDate }))),
    )
    expect(paths).toHaveLength(17_770)
    expect(new Set(paths).size).toBe(17_770)
  })

  test('differs for every two intervals on a disk that ignores case', () => {
    const names = EXCHANGE_INTERVALS.flatMap(interval => [
      startDatesPath(interval),
      windowPath({ interval, symbol: 'BTCUSDT', startDate: '2030-01-01' }),
    ])
    expect(new Set(names.map(name => name.toLowerCase())).size).toBe(2 * EXCHANGE_INTERVALS.length)
    expect(EXCHANGE_INTERVALS.map(intervalSegment).map(parseIntervalSegment)).toEqual([...EXCHANGE_INTERVALS])
    // Without the rule, two of them would be one.
    expect(new Set(EXCHANGE_INTERVALS.map(name => name.toLowerCase())).size).toBe(EXCHANGE_INTERVALS.length - 1)
  })

  test.each([
    '',
    '/',
    '/api/klines/symbols.json',
    'api/klines/symbols.json/',
    'api/klines/symbols.json\n',
    'api/klines/symbols.JSON',
    'api/klines//symbols.json',
    'api/klines/start-dates/1H.json',
    'api/klines/start-dates/1m.json',
    'api/klines/start-dates/__proto__.json',
    'api/klines/start-dates/1h/2024-01-01.json',
    'api/klines/start-dates/.json',
    'api/klines/1h/BTCUSDT.json',
    'api/klines/1h/BTCUSDT/.json',
    'api/klines/1h/BTCUSDT/2024-01-01',
    'api/klines/1h/BTCUSDT/2024-01-01.json?x=1',
    'api/klines/1h/BTCUSDT/2024-01-01.json.gz',
    'api/klines/1h/BTCUSDT/2024-01-01.json\n',
    'api/klines/1h//BTCUSDT/2024-01-01.json',
    'api//klines/1h/BTCUSDT/2024-01-01.json',
    'api/klines/1h/BTCUSDT/../BTCUSDT/2024-01-01.json',
    '../api/klines/1h/BTCUSDT/2024-01-01.json',
    'api/klines/../../etc/passwd',
    'api/klines/1h/%2e%2e/2024-01-01.json',
    'api/klines/1h/BTCUSDT%2F2024-01-01.json',
    'api/klines/1h/BTCUSDT\\2024-01-01.json',
    'api\\klines\\1h\\BTCUSDT\\2024-01-01.json',
    'api/klines/1h/BTCUSDT\u0000/2024-01-01.json',
    'api/klines/1h/币\u202e安/2024-01-01.json',
    'api/klines/1h/E\u0301USDT/2024-01-01.json',
    'api/klines/1h/%E5%B8%81%E5%AE%89/2024-01-01.json',
    'api/klines/1h/btcusdt/2024-01-01.json',
    'api/klines/1h/BTC-USDT/2024-01-01.json',
    'api/klines/1h/PEPE-USDT/2024-01-01.json',
    'api/klines/1h/pepeusdt/2024-01-01.json',
    'api/klines/1h/P/2024-01-01.json',
    'api/klines/1h/__proto__/2024-01-01.json',
    'api/klines/constructor/BTCUSDT/2024-01-01.json',
    'api/klines/1m/BTCUSDT/2024-01-01.json',
    'api/klines/1min/BTCUSDT/2024-01-01T00.json',
    'api/klines/3min/BTCUSDT/2024-01-01.json',
    'api/klines/1s/BTCUSDT/2024-01-01.json',
    'api/klines/1H/BTCUSDT/2024-01-01.json',
    'api/klines/1h/BTCUSDT/2024-01-02.json',
    'api/klines/1h/BTCUSDT/2024-1-1.json',
    'api/klines/1h/BTCUSDT/2024-13-01.json',
    'api/klines/1d/BTCUSDT/2023-01-01.json',
    'api/klines/1d/BTCUSDT/2024-02-31.json',
    'api/klines/15m/BTCUSDT/2024-12-31.json',
  ])('is not %j', path => {
    expect(parseTreePath(path)).toBeUndefined()
  })

  test('with one character changed is refused, or is the path of another window', () => {
    fc.assert(
      fc.property(windows, fc.nat(60), fc.constantFrom(...'./\\%0129 aM\u0000'), (window, position, letter) => {
        const path = windowPath(window)
        const i = position % path.length
        const changed = path.slice(0, i) + letter + path.slice(i + 1)
        const entry = parseTreePath(changed)
        if (entry === undefined) return
        expect(entry.kind).toBe('window')
        if (entry.kind === 'window') expect(windowPath(entry.window)).toBe(changed)
      }),
      { numRuns: 2000 },
    )
  })
})
