import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isKlinesError } from '../../src/candles/errors.js'
import { windowPath } from '../../src/candles/paths.js'
import type { WindowRef } from '../../src/candles/series.js'
import { startDateAt } from '../../src/candles/windows.js'
import { type ExportRequest, exportKlines } from '../../src/engine/export.js'
import { planRequest } from '../../src/engine/plan.js'
import { cutToTail } from '../../src/engine/read.js'
import { openRun } from '../../src/engine/run.js'
import type { Mirror } from '../../src/mirror/mirror.js'
import { cases } from '../support/cases.js'
import { makeRows } from '../support/exchange/made-rows.js'
import { putFile } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const [HOUR, DAY] = [3_600_000, 86_400_000]
const [FROM, UNTIL, NOW] = [Date.parse('2024-12-30T05:00Z'), Date.parse('2025-04-10T13:00Z'), Date.parse('2025-04-11')]
/** Without candles: some hours, and two days at the end of a month. */
const HOLES = [
  [Date.parse('2025-01-20T03:30Z'), Date.parse('2025-01-20T09:00Z')],
  [Date.parse('2025-02-27'), Date.parse('2025-03-01')],
] as const

/** BTCUSDT and ETHUSDT, 15m and 1h, of some 15 weeks. */
function makeMirror(root: string): string {
  for (const symbol of ['BTCUSDT', 'ETHUSDT']) {
    for (const interval of ['15m', '1h'] as const) {
      const windows = new Map<string, unknown[]>()
      for (const row of makeRows(symbol, interval, FROM, UNTIL, HOLES)) {
        const startDate = startDateAt(interval, row[0])
        windows.set(startDate, [...(windows.get(startDate) ?? []), row])
      }
      for (const [startDate, rows] of windows) putFile(root, windowPath({ symbol, interval, startDate }), rows)
    }
  }
  return root
}

const mirror = mkdtempSync(join(tmpdir(), 'klines-excerpt-'))
beforeAll(() => void makeMirror(mirror))
afterAll(() => rmSync(mirror, { recursive: true, force: true }))

type Options = Partial<ExportRequest>

async function exportRun(options: Options, name = 'x.jsonl') {
  const output = join(tempFolder(), name)
  const series = { symbols: ['BTCUSDT'], intervals: ['1h'], from: '2024-12' } as const
  const request = { ...series, mirror, offline: true, now: NOW }
  const report = await exportKlines({ ...request, output, ...options })
  return { report, bytes: readFileSync(report.files[0].path) }
}

/** The lines of an export. */
async function lines(options: Options): Promise<string[]> {
  return String((await exportRun(options)).bytes)
    .trimEnd()
    .split('\n')
}

describe('the first and the last candles of a series', () => {
  const lengths = fc.constantFrom(undefined, '2h', '5h', '1d', '3d', '1w', '1M')
  const times = fc.integer({ min: (FROM - DAY) / HOUR, max: (UNTIL + DAY) / HOUR }).map(hours => hours * HOUR)
  it('are those of the whole export, whatever is resampled', async () => {
    const request = fc.record({
      interval: fc.constantFrom('15m' as const, '1h' as const),
      resample: lengths,
      partial: fc.boolean(),
      count: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 12_000 })),
      from: fc.option(times, { nil: undefined }),
      to: fc.option(times, { nil: undefined }),
    })
    // Partial candles at both ends: the last day has half of its quarters.
    const ofDays = {
      interval: '15m',
      resample: '1d',
      partial: false,
      count: 2,
      from: undefined,
      to: undefined,
    } as const
    await fc.assert(
      fc.asyncProperty(request, async ({ interval, resample, partial, count, from, to }) => {
        const asText = (time: number | undefined) => (time === undefined ? undefined : new Date(time).toISOString())
        fc.pre(from === undefined || to === undefined || from < to)
        const options: Options = {
          ...{ intervals: [interval], resample, to: asText(to) },
          ...(from !== undefined && { from: asText(from) }),
          ...(resample !== undefined && { partial }),
        }
        const all = await lines(options).catch(error => {
          // Not a window that is missing.
          if (isKlinesError(error, 'no_candles')) return []
          throw error
        })
        fc.pre(all.length > 0)
        expect(await lines({ ...options, tail: count })).toEqual(all.slice(-count))
        expect(await lines({ ...options, limit: count })).toEqual(all.slice(0, count))
      }),
      { numRuns: cases(200, 12), examples: [[ofDays], [{ ...ofDays, partial: true }]] },
    )
  })
})

describe('cutToTail', () => {
  it('reads no more windows than it needs', async () => {
    const request = { symbols: ['BTCUSDT'], intervals: ['15m'], mirror, offline: true, now: NOW } as const
    const run = await openRun(request)
    const read = async (tail: number, resample?: string) => {
      const { series } = await planRequest({ ...request, resample }, run)
      const windows = new Set<string>()
      const counted: Mirror = Object.assign(Object.create(run.mirror), {
        read: (window: WindowRef) => {
          windows.add(window.startDate)
          return run.mirror.read(window)
        },
      })
      const cut = await cutToTail({ ...run, mirror: counted }, series[0], tail)
      return [windows.size, cut.windows.length, series[0].windows.length]
    }
    // The last week has three days and a half.
    expect(await read(20)).toEqual([1, 1, 15])
    // A week of quarters, and one: the row before them is read, too.
    expect(await read(673)).toEqual([2, 2, 15])
    expect(await read(20, '1d')).toEqual([4, 4, 15])
    expect(await read(1_000_000)).toEqual([15, 15, 15])
  })

  it('fails for a window that it needs and that cannot be read, and for no other', async () => {
    const broken = makeMirror(tempFolder())
    rmSync(join(broken, windowPath({ symbol: 'BTCUSDT', interval: '1h', startDate: '2025-03-01' })))
    expect((await exportRun({ mirror: broken, tail: 1 })).report.files).toMatchObject([{ candles: 1 }])
    await expect(exportRun({ mirror: broken, tail: 300 })).rejects.toMatchObject({ code: 'incomplete' })
    // Nothing is missing before the last candles, whatever start was named.
    const last = await exportRun({ from: '2025-01-01', tail: 3, failOnGaps: true })
    expect(last.report.series).toMatchObject([{ candles: 3, coverage: { shortAtStart: 0 } }])
  })
})
