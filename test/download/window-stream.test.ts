import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { WindowFailure, WindowResult, WindowSource } from '../../src/download/window-source.js'
import { type StreamOptions, streamWindows } from '../../src/download/window-stream.js'
import { decodeWindow } from '../../src/klines/batch/window-codec.js'
import type { WindowRef } from '../../src/klines/series.js'
import { deferred, turns } from '../support/deferred.js'
import { catchError } from '../support/errors.js'

const DAY = 86_400_000

/** So many 15m windows, one after the other. */
function windowsOf(count: number): WindowRef[] {
  return Array.from({ length: count }, (_, week) => ({
    symbol: 'BTCUSDT',
    interval: '15m',
    startDate: new Date(Date.UTC(2024, 11, 30) + week * 7 * DAY).toISOString().slice(0, 10),
  }))
}

/** A source that gives each window when told to, and counts what is under way. */
class TestSource {
  active = 0
  peak = 0
  readonly asked: string[] = []

  constructor(private readonly answer: (window: WindowRef, index: number) => Promise<void> | void) {}

  get asSource(): WindowSource {
    return this as unknown as WindowSource
  }

  async window(window: WindowRef): Promise<WindowResult | WindowFailure> {
    this.peak = Math.max(this.peak, ++this.active)
    try {
      await this.answer(window, this.asked.push(window.startDate) - 1)
    } finally {
      this.active--
    }
    return { window, status: 'cached', batch: decodeWindow(Buffer.from('[]'), window) }
  }
}

/** The windows of one run over all time. */
async function* streamOf(source: TestSource, windows: readonly WindowRef[], options: StreamOptions) {
  const run = { windows, range: { fromTime: -Infinity, toTime: Infinity } }
  for await (const { result } of streamWindows(source.asSource, [run], options)) yield result
}

describe('the window stream', () => {
  it('gives every window once, in the order given, however long each takes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 8 }),
        async (delays, concurrency) => {
          const windows = windowsOf(delays.length)
          const source = new TestSource((_, index) => turns(delays[index]))
          const seen: string[] = []
          for await (const { window } of streamOf(source, windows, { concurrency })) {
            seen.push(window.startDate)
          }
          expect(seen).toEqual(windows.map(({ startDate }) => startDate))
          expect(source.asked).toHaveLength(windows.length)
          expect(source.peak).toBeLessThanOrEqual(concurrency)
        },
      ),
      { numRuns: 30 },
    )
  })

  it('has as many under way as allowed, and no more', async () => {
    const gate = deferred()
    const source = new TestSource(() => gate.promise)
    const stream = streamOf(source, windowsOf(50), { concurrency: 6 })
    const first = stream.next()
    await turns()
    expect(source.active).toBe(6)
    expect(source.asked).toHaveLength(6)
    gate.resolve()
    await first
    await stream.return(undefined)
  })

  it('does not run ahead of a slow consumer by more than twice that', async () => {
    const source = new TestSource(() => {})
    const stream = streamOf(source, windowsOf(200), { concurrency: 5 })
    for (let taken = 1; taken <= 20; taken++) {
      await stream.next()
      await turns(20)
      expect(source.asked.length).toBeLessThanOrEqual(taken + 10)
    }
    await stream.return(undefined)
  })

  it('asks for nothing more when the loop is left', async () => {
    const source = new TestSource(() => turns(2))
    for await (const _ of streamOf(source, windowsOf(200), { concurrency: 4 })) break
    const asked = source.asked.length
    await turns()
    expect(source.asked.length).toBe(asked)
    expect(asked).toBeLessThan(15)
  })

  it('throws what ends the run in its place, after the windows before it', async () => {
    const source = new TestSource((_, index) => {
      if (index === 3) throw new Error('stop')
    })
    const seen: string[] = []
    const windows = windowsOf(20)
    const error = await catchError(async () => {
      for await (const { window } of streamOf(source, windows, { concurrency: 2 })) seen.push(window.startDate)
    })
    expect(error.message).toBe('stop')
    expect(seen).toEqual(windows.slice(0, 3).map(({ startDate }) => startDate))
  })

  it('hears an abort even when every window is at hand', async () => {
    const controller = new AbortController()
    const source = new TestSource(() => {})
    let seen = 0
    const error = await catchError(async () => {
      for await (const _ of streamOf(source, windowsOf(700), {
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
