import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { describe, expect, test } from 'vitest'
import { NUMBER_TYPES, type OutputColumn } from '../../../src/export/row-format.js'
import { COLUMNS } from '../../../src/klines/columns.js'
import {
  ALL_COLUMNS,
  cutBatches,
  cutPoints,
  METADATA,
  manyRows,
  rowFormat,
  runExporter,
  toBatches,
  twoSeries,
} from '../../support/exporting.js'
import { binaryRows, DUCKDB_NUMBERS, duckdbRows } from '../../support/oracles/binary-rows.js'
import { duckdb } from '../../support/oracles/duckdb.js'
import { decimals, readableTexts } from '../../support/oracles/kline-arbitraries.js'
import { tempFolder } from '../../support/temp-folder.js'
import { LEAP_MONTH, sampleRow } from '../../support/windows.js'

const exact = { ignore: readableTexts, decimal: decimals(30, 8), maxRows: 8 }
const shapes = fc.record({
  columns: fc.oneof(fc.constant(ALL_COLUMNS), fc.shuffledSubarray([...ALL_COLUMNS], { minLength: 1 })),
  numbers: fc.constantFrom(...NUMBER_TYPES),
})
const oneRow = toBatches([{ known: LEAP_MONTH, rows: [sampleRow(LEAP_MONTH.span.startTime)] }])

function saveFile(bytes: Uint8Array): string {
  const path = join(tempFolder(), 'file.parquet')
  writeFileSync(path, bytes)
  return path
}

function toArrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}

describe('a Parquet file contains exactly the exported rows', () => {
  const rowsAndShape = [twoSeries(exact), shapes] as const

  test('read by DuckDB, decimals digit by digit, whatever the columns and number types', async () => {
    const folder = tempFolder()
    await fc.assert(
      fc.asyncProperty(...rowsAndShape, cutPoints, async (parts, shape, points) => {
        fc.pre(parts.some(({ rows }) => rows.length > 0))
        const path = join(folder, 'file.parquet')
        const { bytes } = await runExporter('parquet', cutBatches(toBatches(parts), points), rowFormat(shape))
        writeFileSync(path, bytes)
        expect(await duckdbRows(path)).toEqual(binaryRows(parts, shape.columns, shape.numbers))
      }),
      { numRuns: 40 },
    )
  })

  test('read by hyparquet, which returns decimals as doubles', async () => {
    await fc.assert(
      fc.asyncProperty(...rowsAndShape, async (parts, shape) => {
        fc.pre(parts.some(({ rows }) => rows.length > 0))
        const { bytes } = await runExporter('parquet', toBatches(parts), rowFormat(shape))
        const rows = await parquetReadObjects({ file: toArrayBuffer(bytes), compressors })
        const expected = binaryRows(parts, shape.columns, shape.numbers)
        expect(rows).toHaveLength(expected.length)
        for (const [index, row] of rows.entries()) {
          for (const [name, value] of Object.entries(row)) {
            const want = expected[index][name]
            if (shape.numbers === 'decimal' && typeof value === 'number') {
              expect(Math.abs(value - Number(want))).toBeLessThanOrEqual(Number(want) * 1e-15 + 1e-23)
            } else expect(value instanceof Date ? +value : value).toBe(want)
          }
        }
      }),
      { numRuns: 40 },
    )
  })

  test('with a byte order mark at the start of a text', async () => {
    const rows = [sampleRow(LEAP_MONTH.span.startTime, { 11: '\ufeff0' })]
    const { bytes } = await runExporter('parquet', toBatches([{ known: LEAP_MONTH, rows }]), rowFormat())
    expect((await duckdb(`SELECT hex(ignore) AS hex FROM '${saveFile(bytes)}'`)).rows).toEqual([{ hex: 'EFBBBF30' }])
  })

  test('in row groups of 100,000, whose sums DuckDB computes', async () => {
    const { bytes } = await runExporter('parquet', toBatches([manyRows(230_000)]), rowFormat({ numbers: 'decimal' }))
    const path = saveFile(bytes)
    const { rows } = await duckdb(
      `SELECT count(*) AS n, sum(count) AS counts, CAST(sum(open) AS VARCHAR) AS opens FROM '${path}'`,
    )
    expect(rows).toEqual([{ n: 230_000n, counts: 26_449_885_000n, opens: '26450000000.00000000' }])
    const groups = await duckdb(
      `SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata('${path}') ORDER BY 1`,
    )
    expect(groups.rows.map(group => group.row_group_num_rows)).toEqual([100_000n, 100_000n, 30_000n])
  })
})

describe('the metadata of a Parquet file', () => {
  test.each(NUMBER_TYPES)('times are UTC and counts 64-bit, with numbers %s', async numbers => {
    const { bytes } = await runExporter('parquet', oneRow, rowFormat({ columns: ALL_COLUMNS, numbers }))
    const { types } = await duckdb(`SELECT * FROM '${saveFile(bytes)}'`)
    const typeOf = (name: OutputColumn) => {
      if (name.endsWith('_time')) return 'TIMESTAMP WITH TIME ZONE'
      if (name === 'count') return 'BIGINT'
      return ['symbol', 'interval', 'ignore'].includes(name) ? 'VARCHAR' : DUCKDB_NUMBERS[numbers]
    }
    expect(Object.entries(types)).toEqual(ALL_COLUMNS.map(name => [name, typeOf(name)]))
  })

  test('no column is nullable', async () => {
    const { bytes } = await runExporter('parquet', oneRow, rowFormat({ columns: ALL_COLUMNS, numbers: 'decimal' }))
    const { rows } = await duckdb(
      `SELECT name, repetition_type FROM parquet_schema('${saveFile(bytes)}') WHERE type IS NOT NULL`,
    )
    expect(rows).toEqual(ALL_COLUMNS.map(name => ({ name, repetition_type: 'REQUIRED' })))
  })

  test.each(NUMBER_TYPES)('every column is compressed with zstd and has statistics, with numbers %s', async numbers => {
    const { bytes } = await runExporter('parquet', toBatches([manyRows(5)]), rowFormat({ numbers }))
    const { rows } = await duckdb(
      `SELECT path_in_schema AS name, compression, stats_min_value AS low, stats_max_value AS high, stats_null_count AS nulls
       FROM parquet_metadata('${saveFile(bytes)}')`,
    )
    expect(rows.map(row => row.name)).toEqual([...COLUMNS])
    for (const { compression, low, high, nulls } of rows) {
      expect({ compression, nulls }).toEqual({ compression: 'ZSTD', nulls: 0n })
      expect(low).not.toBeNull()
      expect(high).not.toBeNull()
    }
    expect(rows[8]).toMatchObject({ low: '0', high: '4' })
  })

  test('the key klines contains the facts as JSON, and created_by names the tool', async () => {
    const { bytes } = await runExporter('parquet', oneRow, rowFormat({ numbers: 'double' }))
    const metadata = parquetMetadata(toArrayBuffer(bytes))
    const facts = metadata.key_value_metadata?.find(({ key }) => key === 'klines')?.value
    expect(JSON.parse(facts ?? '')).toEqual({
      symbol: 'BTCUSDT',
      interval: '1h',
      range: '2024-01-01T00:00:00.000Z/..',
      source: 'https://example.com/base',
      schema: 'klines/1',
      version: 'klines 1.2.3',
    })
    expect(metadata.created_by).toBe('klines version 1.2.3')
  })

  test('facts with unusual characters are stored unchanged', async () => {
    const odd = { ...METADATA, source: 'file:///tmp/"名"\n\\' }
    const { bytes } = await runExporter('parquet', oneRow, rowFormat(), odd)
    const { key_value_metadata: pairs } = parquetMetadata(toArrayBuffer(bytes))
    expect(JSON.parse(pairs?.find(({ key }) => key === 'klines')?.value ?? '').source).toBe(odd.source)
  })
})
