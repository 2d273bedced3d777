import { describe, expect, it } from 'vitest'
import type { ExportRequest } from '../../../src/engine/export.js'
import { csvOf, SAMPLE_TREE, sampleRows } from '../../support/sample-tree.js'
import { exportedFile } from '../../support/servers/export-checks.js'
import { useServerOver } from '../../support/servers/test-server.js'

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
    const range = { from: '2025-01-28', to: '2025-02-01T12:30' }
    await expectSame(`1h/ETHUSDT.${extension}?from=2025-01-28&to=2025-02-01T12:30`, extension, range)
    if (extension.endsWith('.gz')) return
    await expectSame(`15m/BTCUSDT.${extension}?last=4d&columns=symbol,close,open_time`, extension, {
      last: '4d',
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
