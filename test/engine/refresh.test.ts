import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Series, type WindowRef, windowOf } from '../../src/candles/series.js'
import { refresh } from '../../src/engine/refresh.js'
import { openRun, type WindowOutcome } from '../../src/engine/run.js'
import { decodeWindow } from '../../src/rows/window-codec.js'
import type { Fetched, Source } from '../../src/sources/source.js'
import { cases } from '../support/cases.js'
import { deferred, turns, until } from '../support/deferred.js'
import { catchError } from '../support/errors.js'
import { tempFolder } from '../support/temp-folder.js'
import { ALL_TIME } from '../support/whole-series.js'

const DAY = 86_400_000
const SERIES: Series = { symbol: 'BTCUSDT', interval: '15m' }

/** `count` consecutive 15m windows. */
function makeWindows(count: number): WindowRef[] {
  return Array.from({ length: count }, (_, week) =>
    windowOf(SERIES, new Date(Date.UTC(2024, 11, 30) + week * 7 * DAY).toISOString().slice(0, 10)),
  )
}

/** A source that returns a window once `answer` resolves, and counts the pending ones. */
class TestSource {
  active = 0
  peak = 0
  readonly requested: string[] = []

  constructor(private readonly answer: (window: WindowRef, index: number) => Promise<void> | void) {}

  get asSource(): Source {
    return { name: 'http://one.example', rules: { kind: 'static' }, fetch: this.fetch } as unknown as Source
  }

  private readonly fetch = async (window: WindowRef): Promise<Fetched> => {
    this.peak = Math.max(this.peak, ++this.active)
    try {
      await this.answer(window, this.requested.push(window.startDate) - 1)
    } finally {
      this.active--
    }
    const bytes = Buffer.from('[]')
    return { bytes, batch: decodeWindow(bytes, window), rendered: 0, asked: 0 }
  }
}

/** Refreshes the windows of one series in an empty mirror. */
async function* refreshSeries(
  source: TestSource,
  windows: readonly WindowRef[],
  options: { readonly concurrency: number; readonly signal?: AbortSignal },
): AsyncGenerator<WindowOutcome> {
  const run = await openRun({ mirror: tempFolder(), offline: true, ...options })
  const plan = { series: SERIES, label: SERIES, range: ALL_TIME, windows }
  yield* refresh({ ...run, source: source.asSource }, [plan])
}

describe('a refresh of many windows', () => {
  it('returns every window once, in the given order, however long each takes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 8 }),
        async (delays, concurrency) => {
          const windows = makeWindows(delays.length)
          const source = new TestSource((_, index) => turns(delays[index]))
          const seen: string[] = []
          for await (const { window } of refreshSeries(source, windows, { concurrency })) {
            seen.push(window.startDate)
          }
          expect(seen).toEqual(windows.map(({ startDate }) => startDate))
          expect(source.requested).toHaveLength(windows.length)
          expect(source.peak).toBeLessThanOrEqual(concurrency)
        },
      ),
      { numRuns: cases(30, 10) },
    )
  })

  it('keeps exactly as many windows pending as the concurrency allows', async () => {
    const gate = deferred()
    const source = new TestSource(() => gate.promise)
    const stream = refreshSeries(source, makeWindows(50), { concurrency: 6 })
    const first = stream.next()
    await until(() => source.active >= 6)
    await turns()
    expect(source.active).toBe(6)
    expect(source.requested).toHaveLength(6)
    gate.resolve()
    await first
    await stream.return(undefined)
  })

  it('throws an error of the source after the windows before it', async () => {
    const source = new TestSource((_, index) => {
      if (index === 3) throw new Error('stop')
    })
    const seen: string[] = []
    const windows = makeWindows(20)
    const error = await catchError(async () => {
      for await (const { window } of refreshSeries(source, windows, { concurrency: 2 })) seen.push(window.startDate)
    })
    expect(error.message).toBe('stop')
    expect(seen).toEqual(windows.slice(0, 3).map(({ startDate }) => startDate))
  })

  it('notices an abort even if no window has to wait', async () => {
    const controller = new AbortController()
    const source = new TestSource(() => {})
    let seen = 0
    const error = await catchError(async () => {
      for await (const _ of refreshSeries(source, makeWindows(700), {
        concurrency: 4,
        signal: controller.signal,
      })) {
        if (++seen === 1) setImmediate(() => controller.abort(new Error('enough')))
      }
    })
    expect(error.message).toBe('enough')
    expect(seen).toBeLessThan(100)
  })
})
