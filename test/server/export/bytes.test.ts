import { createHash } from 'node:crypto'
import { parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { describe, expect, it } from 'vitest'
import type { ExportRequest } from '../../../src/engine/export.js'
import { expectedSeries, hasRealTree, realTree } from '../../support/oracles/real-tree.js'
import { csvOf, SAMPLE_TREE, sampleRows } from '../../support/sample-tree.js'
import { exportedFile } from '../../support/servers/export-checks.js'
import { startTestServer, useServerOver } from '../../support/servers/test-server.js'

const EXTENSIONS = ['csv', 'csv.gz', 'json', 'json.gz', 'jsonl', 'jsonl.gz', 'parquet', 'arrow']
const BINARY = ['parquet', 'arrow']

const server = useServerOver(() => SAMPLE_TREE)

async function expectSame(target: string, extension: string, options: Partial<ExportRequest> = {}): Promise<void> {
  const [, interval, symbol] = /^(\w+)\/(\w+)\./.exec(target) ?? []
  const { status, body } = await server.request(`/export/${target}`)
  expect([status, body.length > 0 ? '' : 'empty']).toEqual([200, ''])
  const expected = await exportedFile(SAMPLE_TREE, [symbol, interval, extension], options)
  expect(body.equals(expected), target).toBe(true)
}

describe('an export has the bytes that the library writes', () => {
  it.each(EXTENSIONS)('%s: everything, a range, columns, resampled', async extension => {
    await expectSame(`1h/BTCUSDT.${extension}`, extension)
    const range = { from: '2025-01-03', to: '2025-02-01T12:30' }
    await expectSame(`1h/ETHUSDT.${extension}?from=2025-01-03&to=2025-02-01T12:30`, extension, range)
    await expectSame(`15m/BTCUSDT.${extension}?last=40d&columns=symbol,close,open_time`, extension, {
      last: '40d',
      columns: ['symbol', 'close', 'open_time'],
    })
    await expectSame(`1h/BTCUSDT.${extension}?resample=1d&partial=true`, extension, { resample: '1d', partial: true })
    await expectSame(`2h/ETHUSDT.${extension}?resample=3d`, extension, { resample: '3d' })
    await expectSame(`1h/BTCUSDT.${extension}?limit=3`, extension, { limit: 3 })
    await expectSame(`1h/ETHUSDT.${extension}?tail=3&resample=1d`, extension, { tail: 3, resample: '1d' })
  })

  it.each(BINARY)('%s: every type of numbers', async extension => {
    for (const numbers of ['double', 'decimal', 'text'] as const) {
      await expectSame(`1d/BTCUSDT.${extension}?numbers=${numbers}`, extension, { numbers })
    }
  })

  it('parquet: every compression', async () => {
    for (const compression of ['gzip', 'snappy', 'none'] as const) {
      await expectSame(`1d/BTCUSDT.parquet?compression=${compression}`, 'parquet', { compression })
    }
    await expectSame('1d/BTCUSDT.csv?compression=none', 'csv')
  })

  it.each(EXTENSIONS.filter(name => !BINARY.includes(name)))('%s: every form of times', async extension => {
    for (const timeFormat of ['ms', 's', 'us', 'iso'] as const) {
      await expectSame(`1d/BTCUSDT.${extension}?time-format=${timeFormat}`, extension, { timeFormat })
    }
  })

  it('CSV is the rows of the window files, under a header', async () => {
    const { body } = await server.request('/export/1h/BTCUSDT.csv')
    expect(String(body)).toBe(csvOf(sampleRows('BTCUSDT', '1h')))
  })

  it('a symbol may be spelled as people spell it', async () => {
    const [plain, spelled] = await Promise.all(
      ['BTCUSDT', 'btc-usdt'].map(symbol => server.request(`/export/1d/${symbol}.csv`)),
    )
    expect(spelled.body.equals(plain.body)).toBe(true)
  })
})

it('a downloaded Parquet file is read by hyparquet, with the text of every decimal', async () => {
  const { body } = await server.request('/export/1h/ETHUSDT.parquet?numbers=text&columns=open_time,close,count')
  const file = Uint8Array.from(body).buffer
  const rows = await parquetReadObjects({ file, compressors })
  const written = sampleRows('ETHUSDT', '1h').map(([time, , , , close, , , , count]) => [time, close, count])
  expect(rows.map(({ open_time, close, count }) => [Number(open_time), close, Number(count)])).toEqual(written)
})

describe.skipIf(!hasRealTree)('of real candles', () => {
  it('CSV has the hash that an independent program computed', { timeout: 60_000 }, async () => {
    const { request } = await startTestServer(realTree(), { now: Date.now })
    for (const [symbol, interval] of [
      ['BTCUSDT', '1h'],
      ['DOTUSDT', '15m'],
      ['ADAUSDT', '3d'],
    ]) {
      const { status, body } = await request(`/export/${interval}/${symbol}.csv`)
      const hash = createHash('sha256').update(body).digest('hex')
      expect([status, hash]).toEqual([200, expectedSeries()[symbol][interval].csvSha256])
    }
  })
})
