import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isKlinesError } from '../../src/candles/errors.js'
import { downloadKlines } from '../../src/engine/download.js'
import { exportKlines } from '../../src/engine/export.js'
import { klineBatches, type ReadRequest } from '../../src/engine/rows.js'
import type { KlineBatch } from '../../src/rows/kline-batch.js'
import { cases } from '../support/cases.js'
import { hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { makeQuarterHours, QUARTER } from '../support/quarter-hour-tree.js'
import { type FileRow, sampleRows, treeFileRows } from '../support/sample-tree.js'
import { candle, putFile } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

/** A mirror of the sample, with its empty windows. */
const SAMPLE = mkdtempSync(join(tmpdir(), 'klines-sample-'))
beforeAll(() =>
  downloadKlines({ symbols: ['BTCUSDT'], intervals: ['15m', '1h', '1d', '3d'], baseUrl: 'sample', mirror: SAMPLE }),
)
afterAll(() => rmSync(SAMPLE, { recursive: true, force: true }))

/** A request for one series of a mirror, to be resampled. */
interface Case extends Pick<ReadRequest, 'from' | 'to'> {
  readonly mirror?: string
  readonly symbol?: string
  readonly interval: '15m' | '1h' | '1d' | '3d'
  readonly target: string
  readonly partial?: boolean
}

const toRequest = ({ mirror = SAMPLE, symbol = 'BTCUSDT', interval, from, to }: Case) =>
  ({ symbols: [symbol], intervals: [interval], offline: true, mirror, from, to }) as const

async function collect(batches: AsyncIterable<KlineBatch>): Promise<FileRow[]> {
  const rows: FileRow[] = []
  for await (const batch of batches) {
    for (let row = 0; row < batch.length; row++) rows.push(batch.row(row))
  }
  return rows
}

/** Through the library's batches. */
async function resampled(request: Case): Promise<FileRow[]> {
  const { target, partial } = request
  return collect(klineBatches({ ...toRequest(request), resample: target, partial }))
}

/** Through a file. */
async function exported(request: Case): Promise<FileRow[]> {
  const output = join(tempFolder(), 'candles.json')
  const { target, partial } = request
  try {
    await exportKlines({ ...toRequest(request), resample: target, partial, output })
  } catch (error) {
    if (isKlinesError(error, 'no_candles')) return []
    throw error
  }
  return JSON.parse(readFileSync(output, 'utf8')) as FileRow[]
}

const openTimes = (rows: readonly FileRow[]) =>
  rows.map(([time]) => new Date(time as number).toISOString().replace(/(T00:00)?:00\.000Z$/, ''))

/** Rows of the sample at the length of the target, which were made with it. */
const sampleFrom = (interval: string, first: string, end: string) =>
  sampleRows('BTCUSDT', interval).filter(
    ([time]) => (time as number) >= Date.parse(first) && (time as number) < Date.parse(end),
  )

describe('batches of a request, resampled', () => {
  // The sample has candles from 2024-12-30 to 2025-03-30. Its lists of 15m begin then, those of 1h years before.
  it.each<[string, Case, string[]]>([
    ['a list that begins in a month', { interval: '15m', target: '1M' }, ['2025-01-01', '2025-02-01']],
    [
      'also as an incomplete candle',
      { interval: '15m', target: '1M', partial: true },
      [...['2024-12-01', '2025-01-01', '2025-02-01', '2025-03-01']],
    ],
    ['a listing in a month', { interval: '1h', target: '1M' }, ['2024-12-01', '2025-01-01', '2025-02-01']],
    ['a start in a month', { interval: '15m', target: '1M', from: '2025-01-15' }, ['2025-02-01']],
    [
      'the same with partial candles',
      { interval: '15m', target: '1M', from: '2025-01-15', partial: true },
      [...['2025-02-01', '2025-03-01']],
    ],
    ['the same in a range', { interval: '15m', target: '1M', from: '2025-01-15', to: '2025-03' }, ['2025-02-01']],
    ['a start in a day', { interval: '1h', target: '1d', from: '2025-01-01T05:00Z', to: '2025-01-03' }, ['2025-01-02']],
    ['an end in a month', { interval: '15m', target: '1M', to: '2025-02-10' }, ['2025-01-01', '2025-02-01']],
    [
      'an end in a day',
      { interval: '1h', target: '1d', from: '2025-01-01', to: '2025-01-02T05:00Z' },
      [...['2025-01-01', '2025-01-02']],
    ],
    ['a range in one candle', { interval: '1h', target: '1w', from: '2025-01-07', to: '2025-01-09' }, []],
  ])('have the candles of an export: %s', async (_, request, expected) => {
    const rows = await resampled(request)
    expect(openTimes(rows)).toEqual(expected)
    expect(rows).toEqual(await exported(request))
  })

  it('have the volumes of the longer candles', async () => {
    const volumes = (rows: readonly FileRow[]) => rows.map(row => row[5])
    expect(volumes(await resampled({ interval: '15m', target: '1M', from: '2025-01-01' }))).toEqual(
      volumes(sampleFrom('1M', '2025-01-01', '2025-03-01')),
    )
    expect(volumes(await resampled({ interval: '1h', target: '3d' }))).toEqual(
      volumes(sampleFrom('3d', '2024-12-30', '2025-03-30')),
    )
  })

  it('are those of an export for any range and target', async () => {
    const time = fc.option(
      fc.integer({ min: Date.parse('2024-12-28') / QUARTER, max: Date.parse('2025-04-02') / QUARTER }),
      { nil: undefined },
    )
    const text = (quarter: number | undefined) =>
      quarter === undefined ? undefined : new Date(quarter * QUARTER).toISOString()
    await fc.assert(
      fc.asyncProperty(
        ...([time, time, fc.constantFrom('2h', '1d', '3d', '1w', '1M', '1q'), fc.boolean()] as const),
        async (one, other, target, partial) => {
          const [from, to] = one !== undefined && other !== undefined && one > other ? [other, one] : [one, other]
          fc.pre(from === undefined || from !== to)
          const request = { interval: '1h', target, from: text(from), to: text(to), partial } as const
          const expected = await exported(request)
          expect(await resampled(request)).toEqual(expected)
        },
      ),
      { numRuns: cases(25, 8) },
    )
  })

  it('begin with a complete candle at a listing in the middle of it', async () => {
    const listed = Date.parse('2025-01-08T09:30Z')
    const mirror = makeQuarterHours(tempFolder(), ['NEWUSDT'], listed, Date.parse('2025-02-01'))
    const request = { mirror, symbol: 'NEWUSDT', interval: '15m', target: '1w', to: '2025-01-20' } as const
    const rows = await resampled(request)
    expect(openTimes(rows)).toEqual(['2025-01-06', '2025-01-13'])
    expect(rows[0][8]).toBe(((Date.parse('2025-01-13') - listed) / QUARTER) * 42)
    expect(rows).toEqual(await exported(request))
  })

  it('are counted from the first 3d candle of a symbol', async () => {
    const mirror = makeQuarterHours(tempFolder(), ['NEWUSDT'], Date.parse('2025-01-06'), Date.parse('2025-01-20'))
    putFile(mirror, 'api/klines/start-dates/3d.json', ['2025-01-01'])
    putFile(mirror, 'api/klines/3d/NEWUSDT/2025-01-01.json', [candle(Date.parse('2025-01-07'))])
    const request = { mirror, symbol: 'NEWUSDT', interval: '15m', target: '3d', to: '2025-01-12' } as const
    const rows = await resampled(request)
    expect(openTimes(rows)).toEqual(['2025-01-04', '2025-01-07', '2025-01-10'])
    expect(rows).toEqual(await exported(request))
  })
})

describe.skipIf(!hasRealTree)('batches of real candles, resampled (skipped without ../shared/data)', () => {
  it.each<[string, Omit<Case, 'mirror'>, string]>([
    ['15m since 2024-12-30', { interval: '15m', target: '1M', to: '2025-03-15' }, '2025-01-01'],
    ['a start in a month', { interval: '15m', target: '1M', from: '2025-01-15', to: '2025-04' }, '2025-02-01'],
    ['a listing in a month', { symbol: 'DOTUSDT', interval: '1d', target: '1M', to: '2022-06' }, '2020-08-01'],
    ['a listing in a week', { symbol: 'DOTUSDT', interval: '1d', target: '1w', to: '2022-06' }, '2020-08-17'],
    ['weeks', { symbol: 'ADAUSDT', interval: '1d', target: '1w', from: '2021-05-05', to: '2022-02' }, '2021-05-10'],
  ])('are those of an export and of the exchange: %s', async (_, part, first) => {
    const request = { ...part, mirror: realTree() }
    const rows = await resampled(request)
    expect(rows).toEqual(await exported(request))
    const truth = treeFileRows(realTree(), part.symbol ?? 'BTCUSDT', part.target).filter(
      ([time]) => (time as number) >= Date.parse(first) && (time as number) < Date.parse(`${part.to}`),
    )
    const cells = (row: FileRow) => [row[0], row[1], row[2], row[3], row[4], row[5], row[8]]
    expect(openTimes(rows)[0]).toBe(first)
    expect(rows.map(cells)).toEqual(truth.map(cells))
  })
})
