import { expect, it, vi } from 'vitest'
import { ProgressDisplay } from '../../../src/cli/terminal/progress.js'

const WORDS = { start: 'Fetching lists', verb: 'Downloading', noun: 'window' }

it('plain progress is a line every 15 s', async () => {
  vi.useFakeTimers()
  const lines: unknown[] = []
  vi.spyOn(process.stderr, 'write').mockImplementation(text => lines.push(text) > 0)
  try {
    await ProgressDisplay.during({ kind: 'plain', windows: false }, WORDS, async ({ advance }) => {
      for (let done = 0; done <= 8; done++) {
        advance(done, 8, 'BTCUSDT 1h')
        vi.advanceTimersByTime(4_000)
      }
    })
  } finally {
    vi.useRealTimers()
    vi.restoreAllMocks()
  }
  expect(lines).toEqual([
    expect.stringMatching(/^3 of 8 windows \(37%\), .* left; now BTCUSDT 1h\n$/),
    expect.stringMatching(/^7 of 8 windows \(87%\), .* left; now BTCUSDT 1h\n$/),
  ])
})
