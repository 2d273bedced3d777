// usage: hyparquet-write.mjs LIST OUT double|decimal: writes window files into one Parquet file with JSON.parse and
// hyparquet-writer. It compresses with snappy, since Node 20 has no zstd.
import { readFileSync } from 'node:fs'
import { parquetWriteFile } from 'hyparquet-writer'
import { COLUMNS, kindOf } from './columns.mjs'

const [list, out, numbers] = process.argv.slice(2)
const data = Object.fromEntries(COLUMNS.map(name => [name, []]))
const columns = Object.values(data)

/** Converts a cell. An exact decimal is written as an integer of its digits, as hyparquet-writer requires. */
function toValue(kind, text) {
  if (kind === 'text') return text
  if (kind !== 'decimal') return BigInt(text)
  if (numbers === 'double') return Number(text)
  const [whole, fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(8, '0'))
}

const kinds = COLUMNS.map(kindOf)
for (const { symbol, interval, files } of JSON.parse(readFileSync(list, 'utf8'))) {
  for (const path of files) {
    for (const row of JSON.parse(readFileSync(path, 'utf8'))) {
      const cells = [symbol, interval, ...row]
      for (let index = 0; index < cells.length; index++) columns[index].push(toValue(kinds[index], cells[index]))
    }
  }
}

const types = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  count: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  decimal: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, converted_type: 'DECIMAL', precision: 38, scale: 8 },
}
parquetWriteFile({
  filename: out,
  columnData: COLUMNS.map(name => ({ name, data: data[name] })),
  schema: [
    { name: 'root', num_children: COLUMNS.length },
    ...COLUMNS.map((name, index) => {
      const kind = kinds[index] === 'decimal' ? numbers : kinds[index]
      return { name, repetition_type: 'REQUIRED', ...types[kind] }
    }),
  ],
  rowGroupSize: 100_000,
})
