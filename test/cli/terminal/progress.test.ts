import { expect, it, vi } from 'vitest'
import { showProgress } from '../../../src/cli/terminal/progress.js'

const WORDS = { start: 'Fetching lists', verb: 'Downloading', noun: 'window' }

it('plain progress is a line every 15 s, after the cost of a run that takes minutes', async () => {
  vi.useFakeTimers()
  const lines: unknown[] = []
  vi.spyOn(process.stderr, 'write').mockImplementation(text => lines.push(text) > 0)
  try {
    const window = { symbol: 'BTCUSDT', interval: '1h', startDate: '2024-01-01' } as const
    const event = {
      type: 'progress',
      total: 8,
      window,
      status: 'cached',
      bytes: 0,
      change: undefined,
    } as const
    await showProgress(WORDS, {}, async onEvent => {
      for (const limitMs of [60_000, 60_001]) onEvent({ type: 'plan', windows: 8, requests: 3_000, limitMs })
      for (let done = 0; done <= 8; done++) {
        onEvent({ ...event, done })
        vi.advanceTimersByTime(4_000)
      }
    })
  } finally {
    vi.useRealTimers()
    vi.restoreAllMocks()
  }
  expect(lines).toEqual([
    'This takes about 3,000 requests to the exchange, and at half its limit 2 minutes.\n',
    expect.stringMatching(/^3 of 8 windows \(37%\), .* left; now BTCUSDT 1h\n$/),
    expect.stringMatching(/^7 of 8 windows \(87%\), .* left; now BTCUSDT 1h\n$/),
  ])
})
