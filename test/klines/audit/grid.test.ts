import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findMisplacedRow } from '../../../src/klines/audit/grid.js'
import { decodeWindow } from '../../../src/klines/batch/window-codec.js'
import type { Interval } from '../../../src/klines/intervals.js'
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
