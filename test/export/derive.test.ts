import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { exportKlines } from '../../src/index.js'
import { windowPath } from '../../src/klines/paths.js'
import { startDateAt } from '../../src/klines/windows.js'
import { makeRows } from '../support/exchange/made-rows.js'
import { putFile } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const HOUR = 3_600_000
const [SYMBOL, NOW] = ['BTCUSDT', Date.parse('2025-02-20')]

/** A mirror of the static service with candles since March 2024 in intervals whose lists begin at different dates. */
function makeMirror(intervals: readonly ('15m' | '30m' | '1h')[]): string {
  const root = tempFolder()
  for (const interval of intervals) {
    const windows = new Map<string, unknown[]>()
    // The lists of 15m begin on 2024-12-30, those of 30m and 1h before 2024-03.
    const from = Date.parse(interval === '15m' ? '2024-12-30' : '2024-03-11')
    for (const row of makeRows(SYMBOL, interval, from, Date.parse('2025-02-10'), [], HOUR / 4)) {
      const date = startDateAt(interval, row[0])
      windows.set(date, [...(windows.get(date) ?? []), row])
    }
    for (const [startDate, rows] of windows) putFile(root, windowPath({ symbol: SYMBOL, interval, startDate }), rows)
  }
  return root
}

async function deriveFirst(intervals: readonly ('15m' | '30m' | '1h')[], from: string): Promise<string> {
  const output = join(tempFolder(), 'x.csv')
  const request = { symbols: [SYMBOL], intervals: ['2h'], derive: true, from, to: '2025-02-01', now: NOW } as const
  await exportKlines({ ...request, mirror: makeMirror(intervals), offline: true, output })
  const [, first, second] = readFileSync(output, 'utf8').split('\n')
  expect(Number(second.split(',')[0]) - Number(first.split(',')[0])).toBe(2 * HOUR)
  return new Date(Number(first.split(',')[0])).toISOString().slice(0, 10)
}

it.each([
  [['15m', '30m'], '2024-06-01', '2024-06-01'],
  [['15m', '1h'], '2024-06-01', '2024-06-01'],
  [['15m'], '2024-06-01', '2024-12-30'],
] as const)(
  'of %j, the range from %s is derived from the interval that reaches back to %s',
  async (intervals, from, first) => {
    expect(await deriveFirst(intervals, from)).toBe(first)
  },
)

it('a series that the mirror lacks and could make names the option', async () => {
  const mirror = makeMirror(['1h'])
  const range = { from: '2024-04-01', to: '2025-02-01' }
  const output = join(tempFolder(), 'x.csv')
  const request = { symbols: [SYMBOL], intervals: ['4h'], ...range, mirror, offline: true, output }
  await expect(exportKlines(request)).rejects.toMatchObject({
    code: 'window_missing',
    message: 'BTCUSDT 4h is not in the mirror.',
    suggestions: ['`derive: true` makes it of the 1h candles that are there.', expect.any(String)],
  })
  expect((await exportKlines({ ...request, derive: true })).files).toHaveLength(1)
})
