import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Interval } from '../../src/candles/intervals.js'
import { decodeWindow, findFinerRow } from '../../src/rows/window-codec.js'
import { HOURS, OFF_GRID_QUARTERS } from '../support/off-grid-tree.js'
import { LISTING_DATES } from '../support/oracles/intervals.js'
import { hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { ALL_INTERVALS } from '../support/sample-tree.js'
import { sampleRow, toJsonBytes } from '../support/windows.js'

const MINUTE = 60_000
const DAY = 86_400_000

describe('before March 2018, when the exchange had candles off the grid', () => {
  const HOUR = 60 * MINUTE
  const window = (interval: Interval, startDate: string, rows: readonly unknown[]) =>
    findFinerRow(decodeWindow(toJsonBytes(rows), { symbol: 'BTCUSDT', interval, startDate }))
  /** Candles of `length` ms from the start of the day on. */
  const successive = (day: string, length: number, count: number) =>
    Array.from({ length: count }, (_, index) => {
      const openTime = Date.parse(day) + index * length
      return sampleRow(openTime, { 6: openTime + length - 1 })
    })

  test('accepts the hours of February 2018, and quarters off the grid', () => {
    expect(window('1h', '2018-02-01', HOURS)).toBeUndefined()
    const week = OFF_GRID_QUARTERS.filter(
      ([openTime]) => openTime >= Date.parse('2018-02-05') && openTime < Date.parse('2018-02-12'),
    )
    expect(window('15m', '2018-02-05', week)).toBeUndefined()
  })

  test('accepts a window of one candle off the grid between two on it', () => {
    const [first, second] = successive('2018-02-09', HOUR, 2)
    const resumed = first[0] + 28 * MINUTE + 14_789
    const between = sampleRow(resumed, { 6: second[0] - 1 })
    expect(window('1h', '2018-02-01', [first.with(6, resumed - 1), between, second])).toBeUndefined()
  })

  test('accepts several candles off the grid among many on it', () => {
    const hours = successive('2018-02-01', HOUR, 100)
    const rows = hours.flatMap((row, index) => {
      if (index % 10 !== 5) return [row]
      const resumed = row[0] + 28 * MINUTE + 14_789
      return [row.with(6, resumed - 1), sampleRow(resumed, { 6: row[6] })]
    })
    expect(window('1h', '2018-02-01', rows)).toBeUndefined()
  })

  test('accepts a window that is off the grid as a whole, in steps of its interval', () => {
    const rows = successive('2017-12-04T06:49:06.123Z', HOUR, 20)
    expect(window('1h', '2017-12-01', rows)).toBeUndefined()
  })

  test.each<[string, number, Interval, string]>([
    ['15m', 15 * MINUTE, '1h', '2018-02-01'],
    ['30m', 30 * MINUTE, '1h', '2018-02-01'],
    ['1h', HOUR, '2h', '2017-09-01'],
    ['4h', 4 * HOUR, '6h', '2018-01-01'],
    ['6h', 6 * HOUR, '8h', '2018-01-01'],
    ['12h', 12 * HOUR, '1d', '2016-01-01'],
  ])('names a window of %s candles in the place of another', (_, length, interval, startDate) => {
    const rows = successive(startDate, length, 40)
    expect(window(interval, startDate, rows)).toBe(1)
    // Also when many candles are missing, and when the finer candles are off the grid themselves.
    expect(window(interval, startDate, rows.toSpliced(4, 10).toSpliced(20, 5))).toBe(1)
    const off = rows.map(row => row.with(0, row[0] + 14_789).with(6, row[6] + 14_789))
    expect(window(interval, startDate, off)).toBe(1)
  })

  test('names finer candles before March 2018 whatever the later ones are', () => {
    const rows = [...successive('2018-01-01', 12 * HOUR, 100), ...successive('2018-03-01', DAY, 300)]
    expect(window('1d', '2018-01-01', rows)).toBe(1)
  })
})

describe.skipIf(!hasRealTree)('in the real slice (skipped without ../shared/data)', () => {
  test.each(ALL_INTERVALS)(
    'no %s candle is misplaced, and the 3d candles of a symbol are counted from its listing',
    interval => {
      const root = `${realTree()}/api/klines/${interval}`
      for (const symbol of readdirSync(root)) {
        for (const name of readdirSync(`${root}/${symbol}`)) {
          const window = { symbol, interval, startDate: name.slice(0, 10) } as Parameters<typeof decodeWindow>[1]
          const batch = decodeWindow(readFileSync(`${root}/${symbol}/${name}`), window)
          expect(findFinerRow(batch), `${symbol} ${name}`).toBeUndefined()
          const listing = LISTING_DATES.find(([listed]) => listed === symbol)?.[1]
          if (interval !== '3d' || listing === undefined || batch.length === 0) continue
          expect((batch.openTime(0) - Date.parse(listing)) % (3 * DAY), symbol).toBe(0)
        }
      }
    },
  )
})
