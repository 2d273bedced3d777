import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Series, type WindowRef, windowOf } from '../../src/candles/series.js'
import { cutToTail } from '../../src/engine/read.js'
import { openRun } from '../../src/engine/run.js'
import type { Mirror } from '../../src/mirror/mirror.js'
import { cases } from '../support/cases.js'
import { putWeek, toDate } from '../support/quarter-hour-tree.js'
import { candle } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'
import { ALL_TIME } from '../support/whole-series.js'

const WEEK = 7 * 86_400_000
const FIRST = Date.UTC(2024, 11, 30)
const series: Series = { symbol: 'BTCUSDT', interval: '15m' }

/** A mirror of weeks of which those in `full` have a candle; every read is noted. */
async function weeks(count: number, full: ReadonlySet<number>) {
  const root = tempFolder()
  const starts = Array.from({ length: count }, (_, week) => FIRST + week * WEEK)
  for (const [week, start] of starts.entries()) putWeek(root, 'BTCUSDT', start, full.has(week) ? [candle(start)] : [])
  const opened = await openRun({ mirror: root, offline: true })
  const read: string[] = []
  const mirror: Mirror = Object.assign(Object.create(opened.mirror), {
    read: (window: WindowRef) => {
      read.push(window.startDate)
      return opened.mirror.read(window)
    },
  })
  const windows = starts.map(start => windowOf(series, toDate(start)))
  return { run: { ...opened, mirror }, read, plan: { series, label: series, range: ALL_TIME, windows } }
}

it('finds the last windows with candles, wherever they end, and reads few before them', async () => {
  const spans = fc
    .integer({ min: 1, max: 64 })
    .chain(count => fc.tuple(fc.constant(count), fc.nat(count - 1), fc.nat(count - 1)))
  await fc.assert(
    fc.asyncProperty(spans, fc.integer({ min: 1, max: 5 }), async ([count, a, b], wanted) => {
      const [first, last] = [Math.min(a, b), Math.max(a, b)]
      fc.pre(last - first >= wanted)
      const full = new Set(Array.from({ length: last - first + 1 }, (_, index) => first + index))
      const { run, read, plan } = await weeks(count, full)
      const { windows } = await cutToTail(run, plan, wanted)
      // Those after the last candle, those that are wanted, and the one before them; at most twice as many.
      const needed = count - last + wanted
      expect(windows.length).toBeGreaterThanOrEqual(needed - 1)
      expect(windows.length).toBeLessThanOrEqual(Math.max(2, 2 * needed))
      expect(new Set(read).size).toBeLessThanOrEqual(needed)
      expect(read.length).toBeLessThanOrEqual(3 * needed + 2)
    }),
    { numRuns: cases(60, 15) },
  )
})

it('a series without candles needs all windows', async () => {
  const { run, read, plan } = await weeks(9, new Set())
  expect(await cutToTail(run, plan, 1)).toEqual(plan)
  expect(new Set(read).size).toBe(9)
})
