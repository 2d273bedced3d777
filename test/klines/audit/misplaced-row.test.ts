import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findMisplacedRow } from '../../../src/klines/audit/misplaced-row.js'
import { decodeWindow } from '../../../src/klines/batch/window-codec.js'
import type { Interval } from '../../../src/klines/intervals.js'
import { HOURS, OFF_GRID_QUARTERS } from '../../support/off-grid-tree.js'
import { INTERVAL_LENGTHS, LISTING_DATES } from '../../support/oracles/intervals.js'
import { hasRealTree, realTree } from '../../support/oracles/real-tree.js'
import { ALL_INTERVALS } from '../../support/sample-tree.js'
import { sampleRow, toJsonBytes } from '../../support/windows.js'

const MINUTE = 60_000
const DAY = 86_400_000
/** The startDate of a window of each interval. */
const WINDOWS: Record<string, string> = {
  ...{ '15m': '2025-01-06', '30m': '2024-01-15', '1h': '2024-02-01', '2h': '2024-01-01', '4h': '2024-01-01' },
  ...{ '6h': '2024-01-01', '8h': '2024-07-01', '12h': '2024-01-01', '1d': '2024-01-01', '3d': '2020-01-01' },
  ...{ '1w': '2020-01-01', '1M': '2010-01-01' },
}
/** When the candle after `openTime` opens. */
function nextOpen(interval: string, openTime: number): number {
  const length = INTERVAL_LENGTHS.find(([name]) => name === interval)?.[1]
  if (length !== undefined) return openTime + length
  return new Date(openTime).setUTCMonth(new Date(openTime).getUTCMonth() + 1)
}

/** Open and close times of `count` successive candles. */
function candles(interval: string, count: number): [number, number][] {
  const monday = Date.parse('2020-01-06')
  let openTime = interval === '1w' ? monday : Date.parse(WINDOWS[interval])
  // Candles before March 2018 may be off the grid.
  if (interval === '1M') openTime = Date.parse('2020-01-01')
  // A 3d grid may start on any day.
  if (interval === '3d') openTime += DAY
  return Array.from({ length: count }, () => {
    const start = openTime
    openTime = nextOpen(interval, start)
    return [start, openTime - 1]
  })
}

function misplacedRow(interval: string, times: readonly (readonly [number, number])[]): string | undefined {
  const rows = times.map(([openTime, closeTime]) => sampleRow(openTime, { 6: closeTime }))
  const window = { symbol: 'BTCUSDT' as const, interval: interval as Interval, startDate: WINDOWS[interval] }
  return findMisplacedRow(decodeWindow(toJsonBytes(rows), window))
}

describe.each(ALL_INTERVALS)('findMisplacedRow in a %s window', interval => {
  const valid = candles(interval, 6)
  const rows = fc.integer({ min: interval === '3d' ? 1 : 0, max: 5 })

  test('accepts gaps, candles that close early, a single candle, and none', () => {
    expect(misplacedRow(interval, valid)).toBeUndefined()
    const kept = fc.subarray(valid)
    const early = fc.integer({ min: 0, max: 14 * MINUTE })
    fc.assert(
      fc.property(kept, early, (times, ms) => {
        expect(
          misplacedRow(
            interval,
            times.map(([open, close]) => [open, close - ms]),
          ),
        ).toBeUndefined()
      }),
    )
  })

  test('names any row that is off the grid', () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 15 * MINUTE - 1 }), (row, by) => {
        const moved = valid.map(([open, close], index): [number, number] => [open + (index === row ? by : 0), close])
        const opens = new Date(moved[row][0]).toISOString()
        expect(misplacedRow(interval, moved)).toBe(`row ${row}, which opens ${opens}, is not on the grid of its series`)
      }),
    )
  })

  test('names any row that lasts longer than its interval', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 5 }),
        fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 40 * DAY })),
        (row, by) => {
          const long = valid.map(([open, close], index): [number, number] => [open, close + (index === row ? by : 0)])
          const opens = new Date(long[row][0]).toISOString()
          expect(misplacedRow(interval, long)).toBe(
            `row ${row}, which opens ${opens}, closes after the next candle opens`,
          )
        },
      ),
    )
  })
})

describe('before March 2018, when the exchange had candles off the grid', () => {
  const HOUR = 60 * MINUTE
  const window = (interval: Interval, startDate: string, rows: readonly unknown[]) =>
    findMisplacedRow(decodeWindow(toJsonBytes(rows), { symbol: 'BTCUSDT', interval, startDate }))
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

  test.each<[string, number, Interval, string, string]>([
    ['15m', 15 * MINUTE, '1h', '2018-02-01', '2018-02-01T00:15:00.000Z'],
    ['30m', 30 * MINUTE, '1h', '2018-02-01', '2018-02-01T00:30:00.000Z'],
    ['1h', HOUR, '2h', '2017-09-01', '2017-09-01T01:00:00.000Z'],
    ['4h', 4 * HOUR, '6h', '2018-01-01', '2018-01-01T04:00:00.000Z'],
    ['6h', 6 * HOUR, '8h', '2018-01-01', '2018-01-01T06:00:00.000Z'],
    ['12h', 12 * HOUR, '1d', '2016-01-01', '2016-01-01T12:00:00.000Z'],
  ])('names a window of %s candles in the place of another', (_, length, interval, startDate, opens) => {
    const reason = `row 1, which opens ${opens}, is less than ${interval} after the one before it, and so are most rows`
    const rows = successive(startDate, length, 40)
    expect(window(interval, startDate, rows)).toBe(reason)
    // Also when many candles are missing, and when the finer candles are off the grid themselves.
    expect(window(interval, startDate, rows.toSpliced(4, 10).toSpliced(20, 5))).toBe(reason)
    const off = rows.map(row => row.with(0, row[0] + 14_789).with(6, row[6] + 14_789))
    expect(window(interval, startDate, off)).toContain('row 1,')
  })

  test('names finer candles before March 2018 whatever the later ones are', () => {
    const rows = [...successive('2018-01-01', 12 * HOUR, 100), ...successive('2018-03-01', DAY, 300)]
    expect(window('1d', '2018-01-01', rows)).toMatch(/^row 1, .* is less than 1d after the one before it/)
  })

  test('names a window of longer candles, off the grid or not', () => {
    for (const ms of [0, 14_789]) {
      const rows = successive('2018-02-01', 2 * HOUR, 40).map(row => row.with(0, row[0] + ms).with(6, row[6] + ms))
      expect(window('1h', '2018-02-01', rows)).toMatch(/^row 0, .*closes after the next candle opens$/)
    }
  })

  test('names a candle off the grid from March 2018 on, also in a window that begins before', () => {
    const rows = successive('2018-02-28', DAY, 3)
    const move = (row: number) => rows.map((cells, index) => (index === row ? cells.with(0, cells[0] + 1) : cells))
    expect(window('1d', '2018-01-01', move(0))).toBeUndefined()
    expect(window('1d', '2018-01-01', move(1))).toBe(
      'row 1, which opens 2018-03-01T00:00:00.001Z, is not on the grid of its series',
    )
    const shifted = HOURS.map(([openTime, ...cells]) =>
      [openTime + 28 * DAY, ...cells].with(6, cells[5] + 28 * DAY),
    ).filter(([openTime]) => Number(openTime) < Date.parse('2018-04-01'))
    expect(window('1h', '2018-03-01', shifted)).toMatch(/opens 2018-03-09T09:28:14.789Z, is not on the grid/)
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
          expect(findMisplacedRow(batch), `${symbol} ${name}`).toBeUndefined()
          const listing = LISTING_DATES.find(([listed]) => listed === symbol)?.[1]
          if (interval !== '3d' || listing === undefined || batch.length === 0) continue
          expect((batch.openTime(0) - Date.parse(listing)) % (3 * DAY), symbol).toBe(0)
        }
      }
    },
  )
})
