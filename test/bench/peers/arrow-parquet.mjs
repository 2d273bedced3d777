// usage: arrow-parquet.mjs LIST OUT double|decimal: writes window files into one Parquet file with JSON.parse, apache-arrow
// and parquet-wasm, as their documentation shows: columns, a table, IPC bytes, the writer.
import { readFileSync, writeFileSync } from 'node:fs'
import {
  Decimal,
  Field,
  Float64,
  Int64,
  makeData,
  makeVector,
  Schema,
  Table,
  Timestamp,
  TimeUnit,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow'
import { Compression, Table as WasmTable, WriterPropertiesBuilder, writeParquet } from 'parquet-wasm'
import { COLUMNS, kindOf } from './columns.mjs'

const [list, out, numbers] = process.argv.slice(2)
const rows = []
for (const { symbol, interval, files } of JSON.parse(readFileSync(list, 'utf8'))) {
  for (const path of files) {
    for (const row of JSON.parse(readFileSync(path, 'utf8'))) rows.push([symbol, interval, ...row])
  }
}

/** `1.5` as 150,000,000 in two words of 64 bits: values of the exchange are not negative and fit into one word. */
function decimalWords(column) {
  const words = new BigUint64Array(2 * rows.length)
  rows.forEach((row, index) => {
    const [whole, fraction = ''] = row[column].split('.')
    words[2 * index] = BigInt(whole + fraction.padEnd(8, '0'))
  })
  return new Uint32Array(words.buffer)
}

const makers = {
  text: column => [
    new Utf8(),
    type =>
      vectorFromArray(
        Array.from(rows, row => row[column]),
        type,
      ),
  ],
  count: column => [
    new Int64(),
    type =>
      vectorOf(
        type,
        BigInt64Array.from(rows, row => BigInt(row[column])),
      ),
  ],
  time: column => [
    new Timestamp(TimeUnit.MILLISECOND, 'UTC'),
    type =>
      vectorOf(
        type,
        BigInt64Array.from(rows, row => BigInt(row[column])),
      ),
  ],
  double: column => [
    new Float64(),
    type =>
      vectorOf(
        type,
        Float64Array.from(rows, row => Number(row[column])),
      ),
  ],
  decimal: column => [new Decimal(8, 38, 128), type => vectorOf(type, decimalWords(column))],
}

function vectorOf(type, data) {
  return makeVector(makeData({ type, length: rows.length, nullCount: 0, data }))
}

const fields = []
const vectors = {}
COLUMNS.forEach((name, column) => {
  const kind = kindOf(name)
  const [type, make] = makers[kind === 'decimal' ? numbers : kind](column)
  fields.push(new Field(name, type, false))
  vectors[name] = make(type)
})
const table = new Table(new Schema(fields), vectors)
const properties = new WriterPropertiesBuilder().setCompression(Compression.ZSTD).setMaxRowGroupSize(100_000).build()
writeFileSync(out, writeParquet(WasmTable.fromIPCStream(tableToIPC(table, 'stream')), properties))
