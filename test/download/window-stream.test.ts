import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { WindowFailure, WindowResult, WindowSource } from '../../src/download/sources/window-source.js'
import { streamWindows } from '../../src/download/window-stream.js'
import { decodeWindow } from '../../src/klines/batch/window-codec.js'
import type { WindowRef } from '../../src/klines/series.js'
import { cases } from '../support/cases.js'
import { deferred, turns } from '../support/deferred.js'
import { catchError } from '../support/errors.js'

const DAY = 86_400_000

/** `count` consecutive 15m windows. */
function makeWindows(count: number): WindowRef[] {
  return Array.from({ length: count }, (_, week) => ({
    symbol: 'BTCUSDT',
    interval: '15m',
    startDate: new Date(Date.UTC(2024, 11, 30) + week * 7 * DAY).toISOString().slice(0, 10),
  }))
}

/** A source that returns a window once `answer` resolves, and counts the pending ones. */
class TestSource {
  readonly info = { offline: false }
  active = 0
  peak = 0
  readonly requested: string[] = []

  constructor(private readonly answer: (window: WindowRef, index: number) => Promise<void> | void) {}

  get asSource(): WindowSource {
    return this as unknown as WindowSource
  }

  async window(window: WindowRef): Promise<WindowResult | WindowFailure> {
    this.peak = Math.max(this.peak, ++this.active)
    try {
      await this.answer(window, this.requested.push(window.startDate) - 1)
    } finally {
      this.active--
    }
    return { window, status: 'cached', batch: decodeWindow(Buffer.from('[]'), window), size: 0 }
  }
}

/** Streams one series without a range. */
async function* streamSeries(
  source: TestSource,
  windows: readonly WindowRef[],
  options: Parameters<typeof streamWindows>[2],
) {
  const run = { windows, range: { fromTime: -Infinity, toTime: Infinity } }
  for await (const { result } of streamWindows(source.asSource, [run], options)) yield result
}

describe('the window stream', () => {
  it('returns every window once, in the given order, however long each takes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 8 }),
        async (delays, concurrency) => {
          const windows = makeWindows(delays.length)
          const source = new TestSource((_, index) => turns(delays[index]))
          const seen: string[] = []
          for await (const { window } of streamSeries(source, windows, { concurrency })) {
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
    const stream = streamSeries(source, makeWindows(50), { concurrency: 6 })
    const first = stream.next()
    await turns()
    expect(source.active).toBe(6)
    expect(source.requested).toHaveLength(6)
    gate.resolve()
    await first
    await stream.return(undefined)
  })

  it('runs ahead of a slow consumer by at most twice the concurrency', async () => {
    const source = new TestSource(() => {})
    const stream = streamSeries(source, makeWindows(200), { concurrency: 5 })
    for (let taken = 1; taken <= 20; taken++) {
      await stream.next()
      await turns(20)
      expect(source.requested.length).toBeLessThanOrEqual(taken + 10)
    }
    await stream.return(undefined)
  })

  it('requests nothing more after the loop is left', async () => {
    const source = new TestSource(() => turns(2))
    for await (const _ of streamSeries(source, makeWindows(200), { concurrency: 4 })) break
    const requested = source.requested.length
    await turns()
    expect(source.requested.length).toBe(requested)
    expect(requested).toBeLessThan(15)
  })

  it('throws an error of the source after the windows before it', async () => {
    const source = new TestSource((_, index) => {
      if (index === 3) throw new Error('stop')
    })
    const seen: string[] = []
    const windows = makeWindows(20)
    const error = await catchError(async () => {
      for await (const { window } of streamSeries(source, windows, { concurrency: 2 })) seen.push(window.startDate)
    })
    expect(error.message).toBe('stop')
    expect(seen).toEqual(windows.slice(0, 3).map(({ startDate }) => startDate))
  })

  it('notices an abort even if no window has to wait', async () => {
    const controller = new AbortController()
    const source = new TestSource(() => {})
    let seen = 0
    const error = await catchError(async () => {
      for await (const _ of streamSeries(source, makeWindows(700), {
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
