import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RecordBatchReader, tableFromIPC } from 'apache-arrow'
import fc from 'fast-check'
import * as wasm from 'parquet-wasm'
import { describe, expect, it } from 'vitest'
import { NUMBER_TYPES } from '../../src/options.js'
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
import { decimalText, tableRows } from '../support/oracles/arrow-rows.js'
import { type BinaryRow, binaryRows, DUCKDB_NUMBERS, duckdbRows } from '../support/oracles/binary-rows.js'
import { duckdb } from '../support/oracles/duckdb.js'
import { decimals, readableTexts } from '../support/oracles/kline-arbitraries.js'
import { tempFolder } from '../support/temp-folder.js'
import { LEAP_MONTH, sampleRow } from '../support/windows.js'

/** `ARROW1` and two bytes of padding: behind them a file is a stream. */
const MAGIC_BYTES = 8

/** The rows as other readers see them: parquet-wasm reads the stream in the file and writes Parquet, which DuckDB reads. */
async function readThroughParquet(bytes: Uint8Array, folder: string): Promise<BinaryRow[]> {
  const path = join(folder, 'file.parquet')
  writeFileSync(path, wasm.writeParquet(wasm.Table.fromIPCStream(bytes.subarray(MAGIC_BYTES))))
  return duckdbRows(path)
}

describe('an Arrow file contains exactly the exported rows', () => {
  it('read as a file, as a stream, and by another implementation of Arrow', async () => {
    const folder = tempFolder()
    const shapes = fc.record({
      columns: fc.oneof(fc.constant(ALL_COLUMNS), fc.shuffledSubarray([...ALL_COLUMNS], { minLength: 1 })),
      numbers: fc.constantFrom(...NUMBER_TYPES),
    })
    const parts = twoSeries({ ignore: readableTexts, decimal: decimals(30, 8), maxRows: 8 })
    await fc.assert(
      fc.asyncProperty(parts, shapes, cutPoints, async (parts, shape, points) => {
        fc.pre(parts.some(({ rows }) => rows.length > 0))
        const { bytes } = await runExporter('arrow', cutBatches(toBatches(parts), points), rowFormat(shape))
        const expected = binaryRows(parts, shape.columns, shape.numbers)
        expect(tableRows(tableFromIPC(bytes))).toEqual(expected)
        expect(tableRows(tableFromIPC(bytes.subarray(MAGIC_BYTES)))).toEqual(expected)
        expect(await readThroughParquet(bytes, folder)).toEqual(expected)
      }),
      { numRuns: cases(40, 6) },
    )
  })

  it('in record batches of 65,536 rows', async () => {
    const { bytes } = await runExporter(
      'arrow',
      toBatches([manyRows(70_000)]),
      rowFormat({ columns: ['open'], numbers: 'decimal' }),
    )
    const lengths = [...RecordBatchReader.from(bytes)].map(batch => batch.numRows)
    expect(lengths).toEqual([65_536, 4_464])
    const opens = tableFromIPC(bytes).getChild('open')
    for (const row of [0, 65_535, 65_536, 69_999]) expect(decimalText(opens?.get(row))).toBe(`${row}.50000000`)
  })
})

describe('the metadata of an Arrow file', () => {
  const oneRow = toBatches([{ known: LEAP_MONTH, rows: [sampleRow(LEAP_MONTH.span.startTime)] }])

  it.each(NUMBER_TYPES)('no column is nullable; times are UTC and counts 64-bit, with numbers %s', async numbers => {
    const { bytes } = await runExporter('arrow', oneRow, rowFormat({ columns: ALL_COLUMNS, numbers }))
    const { fields } = tableFromIPC(bytes).schema
    const decimal = { double: 'Float64', decimal: 'Decimal[38e+8]', text: 'Utf8' }[numbers]
    const types = ALL_COLUMNS.map(name => {
      if (name.endsWith('_time')) return 'Timestamp<MILLISECOND, UTC>'
      if (name === 'count') return 'Int64'
      return ['symbol', 'interval', 'ignore'].includes(name) ? 'Utf8' : decimal
    })
    expect(fields.map(({ name, type, nullable }) => [name, String(type), nullable])).toEqual(
      ALL_COLUMNS.map((name, index) => [name, types[index], false]),
    )
    const path = join(tempFolder(), 'file.parquet')
    writeFileSync(path, wasm.writeParquet(wasm.Table.fromIPCStream(bytes.subarray(MAGIC_BYTES))))
    const other = await duckdb(`SELECT open, count, close_time FROM '${path}'`)
    expect(Object.values(other.types)).toEqual([DUCKDB_NUMBERS[numbers], 'BIGINT', 'TIMESTAMP WITH TIME ZONE'])
  })

  it('the key klines contains the facts as JSON', async () => {
    const { bytes } = await runExporter('arrow', oneRow, rowFormat())
    for (const table of [tableFromIPC(bytes), tableFromIPC(bytes.subarray(MAGIC_BYTES))]) {
      expect(JSON.parse(table.schema.metadata.get('klines') ?? '')).toEqual({
        symbol: 'BTCUSDT',
        interval: '1h',
        range: '2024-01-01T00:00:00.000Z/..',
        source: 'https://example.com/base',
        schema: 'klines/1',
        version: 'klines 1.2.3',
      })
    }
  })
})
