import { execFileSync } from 'node:child_process'
import zlib, { gunzipSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { beforeAll, describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { csvOf, HEADER, sampleRows } from '../support/sample-tree.js'

const newSandbox = useSandboxes()
const hasZstd = 'zstdCompress' in zlib
const ROWS = sampleRows('BTCUSDT', '4h')
const COLUMNS = HEADER.split(',')

/** A row as an object with the column names as keys. */
const named = (row: readonly (string | number)[]) =>
  Object.fromEntries(COLUMNS.map((name, index) => [name, row[index]]))

/** One for all queries, which may run at once. */
const duckDb = DuckDBInstance.create(':memory:')

async function query(sql: string): Promise<Record<string, unknown>[]> {
  const connection = await (await duckDb).connect()
  try {
    return (await connection.runAndReadAll(sql)).getRowObjectsJson()
  } finally {
    connection.closeSync()
  }
}

describe.concurrent('formats of an export', () => {
  let sandbox: CliSandbox
  /** Exports from the sandbox's mirror, and returns the file. */
  async function exported(args: string, output: string): Promise<Buffer> {
    const run = await sandbox.call(['export', ...args.split(' '), '--mirror', 'mirror', '-q', '-o', output])
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
    return sandbox.bytes(output)
  }

  beforeAll(async () => {
    sandbox = newSandbox()
    const run = await sandbox.call('download BTCUSDT ETHUSDT -i 4h,1d --base-url sample --mirror mirror -q'.split(' '))
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  it('csv has the rows as text under the header; csv.gz is the same, compressed', async () => {
    expect(String(await exported('BTCUSDT -i 4h', 'a.csv'))).toBe(csvOf(ROWS))
    const bytes = await exported('BTCUSDT -i 4h', 'a.csv.gz')
    expect(String(gunzipSync(bytes))).toBe(csvOf(ROWS))
    // gzip itself reads it as one valid file.
    expect(String(execFileSync('gzip', ['-dc', sandbox.path('a.csv.gz')], { maxBuffer: 1e9 }))).toBe(csvOf(ROWS))
  })

  it.each(['zstd', 'snappy'])('parquet --compression %s, and --json says so', async compression => {
    const output = `${compression}.parquet`
    const args = ['export', 'BTCUSDT', '-i', '4h', '--mirror', 'mirror', '--json', '--compression', compression]
    const run = await sandbox.call([...args, '-o', output])
    const report = JSON.parse(run.stdout)
    if (compression === 'zstd' && !hasZstd) {
      expect(run.code).toBe(2)
      expect(report.error).toMatchObject({
        message: `--compression zstd is not in Node ${process.versions.node}.`,
        suggestions: ['Use --compression gzip, or run klines with Node 22.15 or later.'],
      })
      return
    }
    expect([run.code, report.files[0].compression]).toEqual([0, compression])
  })

  it('parquet with decimals keeps every digit, with UTC timestamps, in order and not null', async () => {
    await exported('BTCUSDT -i 4h --numbers decimal', 'decimal.parquet')
    const file = `'${sandbox.path('decimal.parquet')}'`
    const types = await query(`describe select * from ${file}`)
    expect(types.map(({ column_name, column_type }) => [column_name, column_type])).toEqual(
      COLUMNS.map(name => {
        if (name.endsWith('_time')) return [name, 'TIMESTAMP WITH TIME ZONE']
        if (name === 'count') return [name, 'BIGINT']
        return [name, name === 'ignore' ? 'VARCHAR' : 'DECIMAL(38,8)']
      }),
    )
    const cells = COLUMNS.map(name => `${name.endsWith('_time') ? `epoch_ms(${name})` : name}::varchar as ${name}`)
    expect(await query(`select ${cells} from ${file}`)).toEqual(ROWS.map(row => named(row.map(String))))
    expect(await query(`select distinct repetition_type from parquet_schema(${file}) where type is not null`)).toEqual([
      { repetition_type: 'REQUIRED' },
    ])
    expect(await query(`select distinct compression from parquet_metadata(${file})`)).toEqual([
      { compression: hasZstd ? 'ZSTD' : 'GZIP' },
    ])
  })

  it('series that share a CSV have leading columns with their names, in the requested order', async () => {
    const names = ['ETHUSDT', 'BTCUSDT'].flatMap(symbol => ['1d', '4h'].map(interval => [symbol, interval]))
    const rows = names.flatMap(([symbol, interval]) =>
      sampleRows(symbol, interval).map(row => [symbol, interval, ...row]),
    )
    const text = String(await exported('ETHUSDT BTCUSDT -i 1d -i 4h', 'shared.csv'))
    expect(text).toBe(csvOf(rows, `symbol,interval,${HEADER}`))
  })

  it('--columns selects columns and their order', async () => {
    const text = String(await exported('BTCUSDT -i 1d --columns close,open_time --columns symbol', 'columns.csv'))
    const rows = sampleRows('BTCUSDT', '1d').map(row => [row[4], row[0], 'BTCUSDT'])
    expect(text).toBe(csvOf(rows, 'close,open_time,symbol'))
  })

  it.each(['csv.gz', 'json', 'jsonl', 'parquet', 'arrow'])(
    'the same command writes the same bytes of .%s twice, and --force replaces an old file',
    async ending => {
      const first = await exported('BTCUSDT -i 4h', `first.${ending}`)
      sandbox.write(`second.${ending}`, 'old')
      const second = await exported('BTCUSDT -i 4h --force', `second.${ending}`)
      expect(second.equals(first)).toBe(true)
      expect(first.length).toBeGreaterThan(1000)
    },
  )
})
