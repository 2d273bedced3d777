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
  startDates: exchangeStartDates(interval, '2017-07-01', Date.UTC(2026, 3, 30)),
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
    '/api/klines/symbols.json',
    'api/klines/start-dates/1H.json',
    'api/klines/start-dates/__proto__.json',
    'api/klines/1h/BTCUSDT/2024-01-01.json\n',
    'api/klines/1h/BTCUSDT/../BTCUSDT/2024-01-01.json',
    '../api/klines/1h/BTCUSDT/2024-01-01.json',
    'api/klines/1h/%2e%2e/2024-01-01.json',
    'api/klines/1h/BTCUSDT\\2024-01-01.json',
    'api/klines/1h/BTCUSDT\u0000/2024-01-01.json',
    'api/klines/1h/E\u0301USDT/2024-01-01.json',
    'api/klines/1h/btcusdt/2024-01-01.json',
    'api/klines/1m/BTCUSDT/2024-01-01.json',
    'api/klines/1h/BTCUSDT/2024-01-02.json',
    'api/klines/1d/BTCUSDT/2024-02-31.json',
  ])('is not %j', path => {
    expect(parseTreePath(path)).toBeUndefined()
  })
})
