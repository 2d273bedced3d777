import { expect, it } from 'vitest'
import { COLUMNS } from '../../src/candles/columns.js'
import type { TimeText } from '../../src/candles/time-range.js'
import { type ExportRequest, exportKlines } from '../../src/engine/export.js'
import { klineBatches, klineRows } from '../../src/engine/klines.js'
import { listSymbols } from '../../src/engine/lists.js'
import type { KlineBatch } from '../../src/rows/kline-batch.js'
import { downloadSetup } from '../support/download-setup.js'
import { makeTree, NOW, SYMBOLS, treeRows } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const ROWS = [...treeRows('BTCUSDT').values()].flat()
const FROM = Date.parse('2025-01-08')
const TO = Date.parse('2025-01-20')

function offline() {
  const mirror = makeTree(tempFolder())
  const request = { symbols: ['BTCUSDT'], intervals: ['15m'], mirror, now: NOW, offline: true } as const
  const times = async (range: { from?: TimeText; to?: TimeText }) => {
    const found: number[] = []
    for await (const { row } of klineRows({ ...request, ...range })) found.push(row.open_time)
    return found
  }
  return { mirror, request, times }
}

it('times are texts, numbers of ms and dates, all for the same range', async () => {
  const { times } = offline()
  const expected = ROWS.map(([time]) => time).filter(time => time >= FROM && time < TO)
  expect(expected.length).toBeGreaterThan(5)
  expect(await times({ from: '2025-01-08', to: '2025-01-20' })).toEqual(expected)
  expect(await times({ from: FROM, to: TO })).toEqual(expected)
  expect(await times({ from: new Date(FROM), to: new Date(TO) })).toEqual(expected)
})

it('rows are objects by default, numbers or arrays', async () => {
  const { request } = offline()
  const [array] = ROWS
  for await (const { row } of klineRows(request)) {
    expect(Object.entries(row)).toEqual(COLUMNS.map((name, index) => [name, array[index]]))
    break
  }
  for await (const { row } of klineRows({ ...request, as: 'numbers' })) {
    const expected = COLUMNS.map((name, index) => [name, name === 'ignore' ? array[index] : Number(array[index])])
    expect(Object.entries(row)).toEqual(expected)
    break
  }
  for await (const { row } of klineRows({ ...request, as: 'arrays' })) {
    expect(row).toEqual(array)
    break
  }
})

it('an abort ends rows at once, with its reason', async () => {
  const controller = new AbortController()
  let rows = 0
  const reading = async () => {
    for await (const _ of klineRows({ ...offline().request, signal: controller.signal }))
      if (++rows === 3) controller.abort()
  }
  await expect(reading()).rejects.toMatchObject({ name: 'AbortError' })
  expect(rows).toBe(3)
})

it('an export without an output names the option', async () => {
  const request = offline().request as unknown as ExportRequest
  const message = 'The option "output" is missing.'
  await expect(exportKlines(request)).rejects.toMatchObject({ code: 'bad_option', message })
  const misspelt = { ...offline().request, frmo: '2025' }
  await expect(klineBatches(misspelt).next()).rejects.toThrow('There is no option "frmo".')
  const dry = { ...request, output: 'x.csv', dryRun: true }
  await expect(exportKlines(dry)).rejects.toThrow('There is no option "dryRun".')
})

it('batches can be kept: each has memory of its own', async () => {
  const batches: KlineBatch[] = []
  for await (const batch of klineBatches(offline().request)) batches.push(batch)
  expect(batches.flatMap(batch => Array.from({ length: batch.length }, (_, row) => batch.row(row)))).toEqual(ROWS)
})

it('klineBatches resamples each series, as sums of its rows show', async () => {
  const { request } = offline()
  const found: Record<string, [number, string][]> = {}
  for await (const batch of klineBatches({ ...request, symbols: [...SYMBOLS], resample: '1w', partial: true })) {
    expect(batch.series.interval).toBe('1w')
    for (let row = 0; row < batch.length; row++) {
      found[batch.series.symbol] = [...(found[batch.series.symbol] ?? []), [batch.openTime(row), batch.text(row, 1)]]
    }
  }
  for (const symbol of SYMBOLS) {
    // The synthetic weeks start on Mondays: the first row of each opens the longer candle.
    const expected = [...treeRows(symbol).values()]
      .filter(rows => rows.length > 0)
      .map(([[time, open]]) => [time, open])
    expect(found[symbol]).toEqual(expected)
  }
})

it('listSymbols returns those of the service', async () => {
  const { request } = await downloadSetup()
  expect(await listSymbols({ baseUrl: request.baseUrl, mirror: request.mirror })).toEqual(SYMBOLS)
})
