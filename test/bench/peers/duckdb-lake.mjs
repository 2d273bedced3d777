// usage: duckdb-lake.mjs LIST OUT decimal|double: writes window files into folders of Parquet files with DuckDB, two threads, one query.
import { readFileSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'
import { COLUMNS, kindOf } from './columns.mjs'

const [list, out, numbers] = process.argv.slice(2)
const series = JSON.parse(readFileSync(list, 'utf8'))
// The volumes of long candles do not fit into 64 bits, from where a cast to 128 bits would be faster.
const TYPES = { decimal: 'DECIMAL(38,8)', double: 'DOUBLE' }

/** SQL that reads a cell of the JSON array `r` as the column's type. */
function cell(column, index) {
  const text = `r[${index}]`
  const kind = kindOf(column)
  if (kind === 'text') return `${text} AS ${column}`
  if (kind === 'time') return `epoch_ms(${text}::BIGINT)::TIMESTAMP_MS AS ${column}`
  return `${text}::${kind === 'count' ? 'BIGINT' : TYPES[numbers]} AS ${column}`
}

const cells = COLUMNS.slice(2).map((column, index) => cell(column, index + 1))
const branches = series.map(({ symbol, interval, files }) => {
  const paths = files.map(path => `'${path}'`).join(',')
  const read = `read_json([${paths}], format='unstructured', records=false, columns={json: 'VARCHAR[][]'})`
  return `SELECT '${symbol}' AS symbol, '${interval}' AS "interval", ${cells} FROM (SELECT unnest(json) AS r FROM ${read})`
})
const connection = await (await DuckDBInstance.create(':memory:')).connect()
await connection.run('SET threads=2')
const options = 'FORMAT parquet, COMPRESSION zstd, PARTITION_BY (symbol, "interval")'
await connection.run(`COPY (${branches.join(' UNION ALL ')}) TO '${out}' (${options})`)
