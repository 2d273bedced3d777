import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isKlinesError } from '../../src/candles/errors.js'
import { exportKlines } from '../../src/engine/export.js'
import { downloadKlines, klineBatches, type ReadRequest } from '../../src/engine/klines.js'
import type { KlineBatch } from '../../src/rows/kline-batch.js'
import { makeQuarterHours, QUARTER } from '../support/quarter-hour-tree.js'
import type { FileRow } from '../support/sample-tree.js'
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
