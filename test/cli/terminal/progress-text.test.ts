import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { barText, type Progress, plainText } from '../../../src/cli/terminal/progress-text.js'

const WORDS = { start: 'Fetching lists', verb: 'Downloading', noun: 'window' }
const START: Progress = {
  done: 0,
  total: undefined,
  label: '',
  bytes: 0,
  leftMs: undefined,
  requests: 0,
  retrying: 0,
  failure: undefined,
  pauseMs: 0,
  pauseReason: undefined,
}
const HALF: Progress = {
  ...START,
  done: 1_234,
  total: 2_001,
  label: 'BTCUSDT 1h',
  bytes: 17_300_000,
  leftMs: 41_100,
}

describe('progress as text', () => {
  it.each<[string, Progress, string, string]>([
    ['lists', START, 'Fetching lists', 'Fetching lists'],
    [
      'windows',
      HALF,
      'Downloading BTCUSDT 1h\n  █████████░░░░░░░  61%  1,234 of 2,001 windows  17.3 MB  41 s left',
      '1,234 of 2,001 windows (61%), 17.3 MB, 41 s left; now BTCUSDT 1h',
    ],
    [
      'a pause that the service asked for',
      { ...HALF, retrying: 3, failure: 'status 429', pauseMs: 11_200, pauseReason: 'rate limited' },
      'Downloading BTCUSDT 1h; rate limited, resuming in 12 s\n  █████████░░░░░░░  61%  1,234 of 2,001 windows  17.3 MB  41 s left',
      '1,234 of 2,001 windows (61%), 17.3 MB, 41 s left; now BTCUSDT 1h; rate limited, resuming in 12 s',
    ],
    [
      'a retry',
      { ...START, total: 8, label: 'BTCUSDT 1h', retrying: 1, failure: 'status 503' },
      'Downloading BTCUSDT 1h; retrying 1 window: status 503\n  ░░░░░░░░░░░░░░░░   0%  0 of 8 windows',
      '0 of 8 windows (0%); now BTCUSDT 1h; retrying 1 window: status 503',
    ],
    [
      'the last but one of many, which is not 100 %',
      { ...START, done: 99_999, total: 100_000 },
      'Downloading\n  ███████████████░  99%  99,999 of 100,000 windows',
      '99,999 of 100,000 windows (99%)',
    ],
  ])('%s', (_, progress, bar, plain) => {
    expect(barText(progress, WORDS, 80)).toBe(bar)
    expect(plainText(progress, WORDS)).toBe(plain)
  })

  it('fits any terminal, and keeps the counts longest', () => {
    const number = fc.nat({ max: 1_000_000_000 })
    fc.assert(
      fc.property(
        fc.integer({ min: 34, max: 300 }),
        number,
        number,
        number,
        fc.string(),
        (columns, a, b, bytes, text) => {
          const [done, total] = [Math.min(a, b) % 1_000_000, (Math.max(a, b) % 1_000_000) + 1_000_000]
          const state = { ...HALF, done, total, bytes, retrying: a % 3, failure: text }
          const lines = barText(state, WORDS, columns).split('\n')
          expect(lines).toHaveLength(2)
          // The spinner and a blank stand before the first line.
          expect(lines[0].length + 2).toBeLessThanOrEqual(columns)
          expect(lines[1].length).toBeLessThan(columns)
          if (columns >= 60) expect(lines[1]).toMatch(/ \d+% {2}[\d,]+ of [\d,]+ windows/)
        },
      ),
    )
  })
})
