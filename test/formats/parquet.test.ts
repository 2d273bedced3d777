import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { parquetMetadata } from 'hyparquet'
import { describe, expect, it } from 'vitest'
import { hasZstd } from '../../src/formats/row-format.js'
import { COMPRESSIONS, NUMBER_TYPES, type OutputColumn } from '../../src/options.js'
import { cases } from '../support/cases.js'
import {
  ALL_COLUMNS,
  cutBatches,
  cutPoints,
  manyRows,
  rowFormat,
  runExporter,
  toBatches,
  twoSeries,
} from '../support/exporting.js'
import { tableRows, wasmTable } from '../support/oracles/arrow-rows.js'
import { binaryRows, DUCKDB_NUMBERS, duckdbRows } from '../support/oracles/binary-rows.js'
import { duckdb } from '../support/oracles/duckdb.js'
import { decimals, readableTexts } from '../support/oracles/kline-arbitraries.js'
import { tempFolder } from '../support/temp-folder.js'
import { LEAP_MONTH, sampleRow } from '../support/windows.js'

const exact = { ignore: readableTexts, decimal: decimals(30, 8), maxRows: 8 }
const available = COMPRESSIONS.filter(name => name !== 'zstd' || hasZstd())
const shapes = fc.record({
  columns: fc.oneof(fc.constant(ALL_COLUMNS), fc.shuffledSubarray([...ALL_COLUMNS], { minLength: 1 })),
  numbers: fc.constantFrom(...NUMBER_TYPES),
  compression: fc.constantFrom(...available),
})
const oneRow = toBatches([{ known: LEAP_MONTH, rows: [sampleRow(LEAP_MONTH.span.startTime)] }])

function saveFile(bytes: Uint8Array): string {
  const path = join(tempFolder(), 'file.parquet')
  writeFileSync(path, bytes)
  return path
}

/** What the file says about itself. */
function metadataText(bytes: Uint8Array): string {
  const pairs = parquetMetadata(toArrayBuffer(bytes)).key_value_metadata ?? []
  expect(pairs.map(({ key }) => key)).toEqual(['klines'])
  return pairs[0].value ?? ''
}

function toArrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}

describe('a Parquet file contains exactly the exported rows', () => {
  const rowsAndShape = [twoSeries(exact), shapes] as const

  it('read by DuckDB, decimals digit by digit, whatever the columns, number types and compression', async () => {
    const folder = tempFolder()
    await fc.assert(
      fc.asyncProperty(...rowsAndShape, cutPoints, async (parts, shape, points) => {
        fc.pre(parts.some(({ rows }) => rows.length > 0))
        const path = join(folder, 'file.parquet')
        const { bytes } = await runExporter('parquet', cutBatches(toBatches(parts), points), rowFormat(shape))
        writeFileSync(path, bytes)
        expect(await duckdbRows(path)).toEqual(binaryRows(parts, shape.columns, shape.numbers))
      }),
      { numRuns: cases(40, 5) },
    )
  })

  it('read by parquet-wasm', async () => {
    await fc.assert(
      fc.asyncProperty(...rowsAndShape, async (parts, shape) => {
        fc.pre(parts.some(({ rows }) => rows.length > 0))
        const { bytes } = await runExporter('parquet', toBatches(parts), rowFormat(shape))
        expect(tableRows(wasmTable(bytes))).toEqual(binaryRows(parts, shape.columns, shape.numbers))
      }),
      { numRuns: cases(40, 5) },
    )
  })

  it('with few, then many, then few different texts in the last column', async () => {
    const text = (index: number) => (index >= 20_000 && index < 40_000 ? `text ${index}` : `${index >> 13}`)
    const part = manyRows(41_000, index => ({ 11: text(index) }))
    const { bytes } = await runExporter('parquet', toBatches([part]), rowFormat({ columns: ['ignore'] }))
    const expected = JSON.stringify(part.rows.map(row => row[11]))
    const texts = (rows: readonly Record<string, unknown>[]) => JSON.stringify(rows.map(({ ignore }) => ignore))
    const path = saveFile(bytes)
    expect(texts((await duckdb(`SELECT ignore FROM '${path}'`)).rows)).toBe(expected)
    expect(texts(tableRows(wasmTable(bytes)))).toBe(expected)
    const statistics = await duckdb(
      `SELECT stats_min_value AS low, stats_max_value AS high FROM parquet_metadata('${path}')`,
    )
    expect(statistics.rows).toEqual([{ low: '0', high: 'text 39999' }])
  })
})

describe('the metadata of a Parquet file', () => {
  it.each(NUMBER_TYPES)('times are UTC and counts 64-bit, with numbers %s', async numbers => {
    const { bytes } = await runExporter('parquet', oneRow, rowFormat({ columns: ALL_COLUMNS, numbers }))
    const { types } = await duckdb(`SELECT * FROM '${saveFile(bytes)}'`)
    const typeOf = (name: OutputColumn) => {
      if (name.endsWith('_time')) return 'TIMESTAMP WITH TIME ZONE'
      if (name === 'count') return 'BIGINT'
      return ['symbol', 'interval', 'ignore'].includes(name) ? 'VARCHAR' : DUCKDB_NUMBERS[numbers]
    }
    expect(Object.entries(types)).toEqual(ALL_COLUMNS.map(name => [name, typeOf(name)]))
  })

  it('every column has its least and greatest value of each row group of 100,000, and no null', async () => {
    const limits = { 1: [`${'9'.repeat(30)}.99999999`, '0.00000001'], 5: ['10.5', '9.25'] }
    const part = manyRows(110_000, index => {
      const isLow = index === 70_000 || index === 105_000
      if (index !== 30_000 && !isLow) return { 1: '5', 5: '9.5', 8: index + 3 }
      const side = isLow ? 1 : 0
      return { 1: limits[1][side], 5: limits[5][side], 8: isLow ? 1 : 2 ** 53 - 1 }
    })
    const batches = toBatches([part])
    const low = { double: '1e-08', decimal: '0.00000001', text: '0.00000001' }
    const high = { double: '1e+30', decimal: limits[1][0], text: limits[1][0] }
    const five = { double: '5.0', decimal: '5.00000000', text: '5' }
    // Texts are compared byte by byte.
    const volumes = {
      double: ['9.25', '10.5', '9.25', '9.5'],
      decimal: ['9.25000000', '10.50000000', '9.25000000', '9.50000000'],
      text: ['10.5', '9.5', '9.25', '9.5'],
    }
    for (const numbers of NUMBER_TYPES) {
      const shape = rowFormat({ columns: ['symbol', 'open_time', 'open', 'volume', 'count'], numbers })
      const { bytes } = await runExporter('parquet', batches, shape)
      const path = saveFile(bytes)
      const { rows: found } = await duckdb(
        `SELECT path_in_schema AS name, stats_min_value AS low, stats_max_value AS high, stats_null_count AS nulls,
         row_group_num_rows AS length FROM parquet_metadata('${path}') ORDER BY row_group_id, column_id`,
      )
      const time = (index: number) => `${new Date(part.rows[index][0]).toISOString().slice(0, 19).replace('T', ' ')}+00`
      const [a, b, c, d] = volumes[numbers]
      const group = (length: bigint, columns: Record<string, readonly [string, string]>) =>
        Object.entries(columns).map(([name, [low, high]]) => ({ name, low, high, nulls: 0n, length }))
      expect(found, numbers).toEqual([
        ...group(100_000n, {
          symbol: ['ADAUSDT', 'ADAUSDT'],
          open_time: [time(0), time(99_999)],
          open: [low[numbers], high[numbers]],
          volume: [a, b],
          count: ['1', '9007199254740991'],
        }),
        ...group(10_000n, {
          symbol: ['ADAUSDT', 'ADAUSDT'],
          open_time: [time(100_000), time(109_999)],
          open: [low[numbers], five[numbers]],
          volume: [c, d],
          count: ['1', '110002'],
        }),
      ])
      const { rows: sums } = await duckdb(`SELECT count(*) AS n, sum(count) AS counts FROM '${path}'`)
      expect(sums).toEqual([{ n: 110_000n, counts: 9_007_205_304_810_984n }])
    }
  })

  it('the key klines contains the facts as JSON, and created_by names the tool', async () => {
    const { bytes } = await runExporter('parquet', oneRow, rowFormat({ numbers: 'double' }))
    const metadata = parquetMetadata(toArrayBuffer(bytes))
    expect(JSON.parse(metadataText(bytes))).toEqual({
      symbol: 'BTCUSDT',
      interval: '1h',
      range: '2024-01-01T00:00:00.000Z/..',
      source: 'https://example.com/base',
      compression: hasZstd() ? 'zstd' : 'gzip',
      schema: 'klines/1',
      version: 'klines 1.2.3',
    })
    expect(metadata.created_by).toBe('klines version 1.2.3')
    // What old readers know.
    expect(metadata.schema.find(({ name }) => name === 'close_time')?.converted_type).toBe('TIMESTAMP_MILLIS')
    const { statistics } = metadata.row_groups[0].columns[1].meta_data ?? {}
    expect(statistics).toMatchObject({ min: 42580, max: 42580, min_value: 42580, max_value: 42580 })
  })

  it.each(available)('names its compression, %s', async compression => {
    const { bytes } = await runExporter('parquet', oneRow, rowFormat({ compression }))
    const { codec } = parquetMetadata(toArrayBuffer(bytes)).row_groups[0].columns[0].meta_data ?? {}
    expect(codec).toBe({ zstd: 'ZSTD', gzip: 'GZIP', snappy: 'SNAPPY', none: 'UNCOMPRESSED' }[compression])
  })
})
