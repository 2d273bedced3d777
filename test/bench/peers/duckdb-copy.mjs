// usage: duckdb-copy.mjs LIST OUT csv|gzip|snappy: writes window files into one file with DuckDB and two threads: CSV, or Parquet of that
// compression.
import { readFileSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'

const [list, out, format] = process.argv.slice(2)
const COLUMNS =
  'open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore'

/** SQL that reads a cell of the JSON array `r` as the column's type. In CSV, text stays as the source has it. */
function cell(column, index) {
  const text = `r[${index + 1}]`
  if (format === 'csv' || column === 'ignore') return `${text} AS ${column}`
  if (column.endsWith('_time')) return `epoch_ms(${text}::BIGINT)::TIMESTAMP_MS AS ${column}`
  return `${text}::${column === 'count' ? 'BIGINT' : 'DOUBLE'} AS ${column}`
}

// The fastest of five queries tried: text lists are read whole and unnested, with a branch for each series, so that no name
// has to be cut from the path of each row.
const cells = COLUMNS.split(',').map(cell)
const branches = JSON.parse(readFileSync(list, 'utf8')).map(({ symbol, interval, files }) => {
  const paths = files.map(path => `'${path}'`).join(',')
  const read = `read_json([${paths}], format='unstructured', records=false, columns={json: 'VARCHAR[][]'})`
  return `SELECT '${symbol}' AS symbol, '${interval}' AS interval, ${cells} FROM (SELECT unnest(json) AS r FROM ${read})`
})
const options = format === 'csv' ? 'FORMAT csv, HEADER' : `FORMAT parquet, COMPRESSION ${format}, ROW_GROUP_SIZE 100000`

const connection = await (await DuckDBInstance.create(':memory:')).connect()
await connection.run('SET threads=2')
await connection.run(`COPY (${branches.join(' UNION ALL ')}) TO '${out}' (${options})`)
