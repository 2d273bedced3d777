import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { ExportRequest } from '../../../src/engine/export.js'
import { expectedSeries, hasRealTree, realTree } from '../../support/oracles/real-tree.js'
import { csvOf, SAMPLE_TREE, sampleRows } from '../../support/sample-tree.js'
import { exportedFile } from '../../support/servers/export-checks.js'
import { startTestServer, useServerOver } from '../../support/servers/test-server.js'

const EXTENSIONS = ['csv', 'csv.gz', 'json', 'json.gz', 'jsonl', 'jsonl.gz', 'parquet', 'arrow']

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
    const range = { from: '2025-01-03', to: '2025-02-01T12:30' }
    await expectSame(`1h/ETHUSDT.${extension}?from=2025-01-03&to=2025-02-01T12:30`, extension, range)
    await expectSame(`15m/BTCUSDT.${extension}?last=40d&columns=symbol,close,open_time`, extension, {
      last: '40d',
      columns: ['symbol', 'close', 'open_time'],
    })
    await expectSame(`1h/ETHUSDT.${extension}?tail=3&resample=1d`, extension, { tail: 3, resample: '1d' })
  })

  it('with the options of formats', async () => {
    await expectSame('1d/BTCUSDT.arrow?numbers=decimal', 'arrow', { numbers: 'decimal' })
    await expectSame('1d/BTCUSDT.parquet?compression=gzip', 'parquet', { compression: 'gzip' })
    await expectSame('1d/BTCUSDT.csv?time-format=iso', 'csv', { timeFormat: 'iso' })
    await expectSame('1h/BTCUSDT.csv?resample=1d&partial=true', 'csv', { resample: '1d', partial: true })
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

describe.skipIf(!hasRealTree)('of real candles', () => {
  it('CSV has the hash that an independent program computed', { timeout: 60_000 }, async () => {
    const { request } = await startTestServer(realTree(), { now: Date.now })
    for (const [symbol, interval] of [
      ['BTCUSDT', '1h'],
      ['ADAUSDT', '3d'],
    ]) {
      const { status, body } = await request(`/export/${interval}/${symbol}.csv`)
      const hash = createHash('sha256').update(body).digest('hex')
      expect([status, hash]).toEqual([200, expectedSeries()[symbol][interval].csvSha256])
    }
  })
})
