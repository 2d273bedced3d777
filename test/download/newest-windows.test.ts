import fc from 'fast-check'
import { expect, it } from 'vitest'
import { planNewest } from '../../src/download/newest-windows.js'
import { openSource } from '../../src/download/sources/open-source.js'
import type { WindowSource } from '../../src/download/sources/window-source.js'
import type { WindowRef } from '../../src/klines/series.js'
import { ALL_TIME } from '../../src/klines/time-range.js'
import { cases } from '../support/cases.js'
import { putWeek, toDate } from '../support/quarter-hour-tree.js'
import { candle } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const WEEK = 7 * 86_400_000
const FIRST = Date.UTC(2024, 11, 30)
const series = { symbol: 'BTCUSDT', interval: '15m' } as const

/** A mirror of weeks of which those in `full` have a candle; every read is noted. */
async function weeks(count: number, full: ReadonlySet<number>) {
  const root = tempFolder()
  const starts = Array.from({ length: count }, (_, week) => FIRST + week * WEEK)
  for (const [week, start] of starts.entries()) putWeek(root, 'BTCUSDT', start, full.has(week) ? [candle(start)] : [])
  const mirror = await openSource({ mirror: root, offline: true })
  const read: string[] = []
  const source = Object.assign(Object.create(mirror) as WindowSource, {
    window: (window: WindowRef) => {
      read.push(window.startDate)
      return mirror.window(window)
    },
  })
  const windows = starts.map(start => ({ ...series, startDate: toDate(start) }))
  return { source, read, plan: { series, range: ALL_TIME, windows, listedFrom: FIRST } }
}

it('F81 the last window with candles is found, whatever windows before it are empty', async () => {
  const some = fc
    .integer({ min: 1, max: 64 })
    .chain(count => fc.tuple(fc.constant(count), fc.array(fc.nat(count - 1), { minLength: 1, maxLength: 5 })))
  await fc.assert(
    fc.asyncProperty(some, async ([count, indexes]) => {
      const { source, read, plan } = await weeks(count, new Set(indexes))
      const { windows } = await planNewest(source, plan, newest => newest)
      expect(windows).toEqual([plan.windows[Math.max(...indexes)]])
      expect(new Set(read).size).toBe(read.length)
    }),
    { numRuns: cases(100, 25) },
  )
})

it('finds the last window with candles, wherever they end, and reads few before it', async () => {
  const spans = fc.integer({ min: 1, max: 64 }).chain(count =>
    fc.tuple(fc.constant(count), fc.nat(count - 1), fc.nat(count - 1)).map(([count, a, b]) => ({
      count,
      first: Math.min(a, b),
      last: Math.max(a, b),
    })),
  )
  await fc.assert(
    fc.asyncProperty(spans, fc.integer({ min: 1, max: 5 }), async ({ count, first, last }, wanted) => {
      const full = new Set(Array.from({ length: last - first + 1 }, (_, index) => first + index))
      const { source, read, plan } = await weeks(count, full)
      const { windows, range } = await planNewest(source, plan, newest => newest - (wanted - 1) * WEEK)
      expect(range.fromTime).toBe(FIRST + (last - wanted + 1) * WEEK)
      // Those of the time that is wanted, up to the last one with candles.
      const from = Math.max(0, last - wanted + 1)
      expect(windows).toEqual(plan.windows.slice(from, last + 1))
      expect(new Set(read).size).toBe(read.length)
      // Each one after it, and of others as many as doubled steps reach too far; a short stretch far back, about as many gaps as it fits in.
      expect(read.length).toBeLessThanOrEqual(2 * (count - last) + 4 + (2 * count) / (last - first + 1))
    }),
    { numRuns: cases(60, 15) },
  )
})

it('a series without candles needs all windows', async () => {
  const { source, read, plan } = await weeks(9, new Set())
  expect(await planNewest(source, plan, newest => newest)).toEqual(plan)
  expect(read).toHaveLength(9)
})

it('a window that cannot be read is an error', async () => {
  const { source, plan } = await weeks(3, new Set([0]))
  const missing = { ...series, startDate: '2025-02-03' }
  await expect(planNewest(source, { ...plan, windows: [...plan.windows, missing] }, newest => newest)).rejects.toThrow(
    /1 of 1 windows are missing or corrupt:\n1 x not in the mirror \(BTCUSDT 15m 2025-02-03\)/,
  )
})
