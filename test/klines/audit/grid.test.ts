import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findMisplacedRow, gridOffset } from '../../../src/klines/audit/grid.js'
import { decodeWindow } from '../../../src/klines/batch/window-codec.js'
import type { Interval } from '../../../src/klines/intervals.js'
import { hasRealTree, realTree } from '../../support/oracles/real-tree.js'
import { ALL_INTERVALS } from '../../support/sample-tree.js'
import { sampleRow, toJsonBytes } from '../../support/windows.js'

const MINUTE = 60_000
const DAY = 86_400_000
const DAYS_3 = 3 * DAY
/** Lengths of all intervals but the month, ms. */
const LENGTHS: [Interval, number][] = [
  ['15m', 15 * MINUTE],
  ['30m', 30 * MINUTE],
  ['1h', 60 * MINUTE],
  ['2h', 120 * MINUTE],
  ['4h', 240 * MINUTE],
  ['6h', 360 * MINUTE],
  ['8h', 480 * MINUTE],
  ['12h', 720 * MINUTE],
  ['1d', DAY],
  ['3d', DAYS_3],
  ['1w', 7 * DAY],
]
/** A window of each interval that lies after every listing. */
const WINDOWS: Record<string, string> = {
  ...{ '15m': '2025-01-06', '30m': '2024-01-15', '1h': '2024-02-01', '2h': '2024-01-01', '4h': '2024-01-01' },
  ...{ '6h': '2024-01-01', '8h': '2024-07-01', '12h': '2024-01-01', '1d': '2024-01-01', '3d': '2020-01-01' },
  ...{ '1w': '2020-01-01', '1M': '2010-01-01' },
}
/** observed.md, "Grids": where each symbol's 3d candles begin. */
const LISTINGS = [
  ['BTCUSDT', '2017-08-17'],
  ['ETHUSDT', '2017-08-17'],
  ['BNBUSDT', '2017-11-06'],
  ['ADAUSDT', '2018-04-17'],
  ['XRPUSDT', '2018-05-04'],
  ['LINKUSDT', '2019-01-16'],
  ['DOGEUSDT', '2019-07-05'],
  ['SOLUSDT', '2020-08-11'],
  ['DOTUSDT', '2020-08-18'],
  ['AVAXUSDT', '2020-09-22'],
] as const

describe('an open time lies on the grid of its interval', () => {
  test.each<[Interval, string, string]>([
    ['15m', '2024-12-30T00:15Z', '2024-12-30T00:20Z'],
    ['1h', '2023-03-24T13:00Z', '2023-03-24T13:30Z'],
    ['8h', '2017-08-17T16:00Z', '2017-08-17T12:00Z'],
    ['12h', '2017-08-17T12:00Z', '2017-08-17T06:00Z'],
    ['1d', '2017-08-17', '2017-08-17T12:00Z'],
    ['1w', '2019-12-30', '2020-01-01'],
    ['1w', '2017-08-14', '2017-08-17'],
    ['1w', '1970-01-05', '1970-01-01'],
    ['1w', '1969-12-29', '1969-12-28'],
    ['1w', '1900-01-01', '1900-01-02'],
    ['1M', '2017-08-01', '2017-08-17'],
    ['1M', '2024-02-01', '2024-02-29'],
    ['1M', '1969-12-01', '1969-12-31'],
    ['1h', '1969-12-31T23:00Z', '1969-12-31T23:59:59.999Z'],
  ])('%s: %s does, %s does not', (interval, on, off) => {
    expect(gridOffset(interval, Date.parse(on))).toBe(0)
    expect(gridOffset(interval, Date.parse(off))).toBeGreaterThan(0)
  })

  test.each(LENGTHS)('%s: with every step of its length, before 1970 too, and nothing between', (interval, length) => {
    const anchor = interval === '1w' ? Date.parse('2024-01-01') : 0
    const steps = fc.integer({ min: -20_000, max: 20_000 })
    fc.assert(
      fc.property(steps, fc.integer({ min: 0, max: length - 1 }), (step, past) => {
        expect(gridOffset(interval, anchor + step * length + past)).toBe(past)
      }),
    )
  })

  test('1M: with the first of every month, and nothing between', () => {
    const months = fc.integer({ min: -600, max: 1_200 })
    fc.assert(
      fc.property(months, fc.integer({ min: 0, max: 28 * DAY - 1 }), (month, past) => {
        expect(gridOffset('1M', Date.UTC(1970, month, 1) + past)).toBe(past)
      }),
    )
  })

  test.each(LISTINGS)('3d: %s on that of %s, whichever of its candles', (_, listing) => {
    const first = Date.parse(listing)
    fc.assert(
      fc.property(fc.nat(3_000), fc.integer({ min: 1, max: DAYS_3 - 1 }), (candle, off) => {
        expect(gridOffset('3d', first + candle * DAYS_3)).toBe(gridOffset('3d', first))
        expect(gridOffset('3d', first + candle * DAYS_3 + off)).not.toBe(gridOffset('3d', first))
      }),
    )
  })
})

/** When the candle after `openTime` opens. */
function nextOpen(interval: string, openTime: number): number {
  const length = LENGTHS.find(([name]) => name === interval)?.[1]
  if (length !== undefined) return openTime + length
  return new Date(openTime).setUTCMonth(new Date(openTime).getUTCMonth() + 1)
}

/** The window of an interval with `count` candles in a row: open and close times. */
function candles(interval: string, count: number): [number, number][] {
  const mondays = Date.parse('2020-01-06')
  let openTime = interval === '1w' ? mondays : Date.parse(WINDOWS[interval])
  // A 3d grid begins anywhere.
  if (interval === '3d') openTime += DAY
  return Array.from({ length: count }, () => {
    const at = openTime
    openTime = nextOpen(interval, at)
    return [at, openTime - 1]
  })
}

function strangeOf(interval: string, times: readonly (readonly [number, number])[]): string | undefined {
  const rows = times.map(([openTime, closeTime]) => sampleRow(openTime, { 6: closeTime }))
  const window = { symbol: 'BTCUSDT' as const, interval: interval as Interval, startDate: WINDOWS[interval] }
  return findMisplacedRow(decodeWindow(toJsonBytes(rows), window))
}

describe.each(ALL_INTERVALS)('of a %s window', interval => {
  const sound = candles(interval, 6)
  const rows = fc.integer({ min: interval === '3d' ? 1 : 0, max: 5 })

  test('no candle is strange, also with gaps, candles that close early, one, or none', () => {
    expect(strangeOf(interval, sound)).toBeUndefined()
    const kept = fc.subarray(sound)
    const early = fc.integer({ min: 0, max: 14 * MINUTE })
    fc.assert(
      fc.property(kept, early, (times, ms) => {
        expect(
          strangeOf(
            interval,
            times.map(([open, close]) => [open, close - ms]),
          ),
        ).toBeUndefined()
      }),
    )
  })

  test('any row that is moved off the grid is named', () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 15 * MINUTE - 1 }), (row, by) => {
        const moved = sound.map(([open, close], index): [number, number] => [open + (index === row ? by : 0), close])
        const opens = new Date(moved[row][0]).toISOString()
        expect(strangeOf(interval, moved)).toBe(`row ${row}, which opens ${opens}, is not on the grid of its series`)
      }),
    )
  })

  test('any row that lasts longer than its interval is named', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 5 }),
        fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 40 * DAY })),
        (row, by) => {
          const long = sound.map(([open, close], index): [number, number] => [open, close + (index === row ? by : 0)])
          const opens = new Date(long[row][0]).toISOString()
          expect(strangeOf(interval, long)).toBe(`row ${row}, which opens ${opens}, closes after the next candle opens`)
        },
      ),
    )
  })
})

describe.skipIf(!hasRealTree)('of the real slice', () => {
  test.each(ALL_INTERVALS)(
    'no %s candle is strange, and all 3d candles of a symbol lie as its listing says',
    interval => {
      const root = `${realTree()}/api/klines/${interval}`
      for (const symbol of readdirSync(root)) {
        for (const name of readdirSync(`${root}/${symbol}`)) {
          const window = { symbol, interval, startDate: name.slice(0, 10) } as Parameters<typeof decodeWindow>[1]
          const batch = decodeWindow(readFileSync(`${root}/${symbol}/${name}`), window)
          expect(findMisplacedRow(batch), `${symbol} ${name}`).toBeUndefined()
          const listing = LISTINGS.find(([listed]) => listed === symbol)?.[1]
          if (interval !== '3d' || listing === undefined || batch.length === 0) continue
          expect(gridOffset('3d', batch.openTime(0)), symbol).toBe(gridOffset('3d', Date.parse(listing)))
        }
      }
    },
  )
})
