// usage: duckdb-copy.mjs LIST OUT csv|double|decimal: writes window files into one file with DuckDB and two threads, or one for each
// series when OUT has {symbol} and {interval}. Parquet gets the compression that klines chooses on this Node.
import { readFileSync } from 'node:fs'
import zlib from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { COLUMNS, kindOf } from './columns.mjs'

const [list, out, numbers] = process.argv.slice(2)
const series = JSON.parse(readFileSync(list, 'utf8'))

/** SQL that reads a cell of the JSON array `r` as the column's type; text stays as the source has it. */
function cell(column, index) {
  const text = `r[${index}]`
  const kind = kindOf(column)
  if (numbers === 'csv' || kind === 'text') return `${text} AS ${column}`
  if (kind === 'time') return `epoch_ms(${text}::BIGINT)::TIMESTAMP_MS AS ${column}`
  if (kind === 'count') return `${text}::BIGINT AS ${column}`
  // Via 64 bits, which fit every value of the slice and fail otherwise: ten times as fast as a cast to 128 bits.
  return `${text}::${numbers === 'double' ? 'DOUBLE' : 'DECIMAL(18,8)::DECIMAL(38,8)'} AS ${column}`
}

// The fastest of five queries tried: text lists are read whole and unnested, with a branch for each series, so that no name
// has to be cut from the path of each row. Strings stay text: the CSV has the source's own digits.
const cells = COLUMNS.slice(2).map((column, index) => cell(column, index + 1))
const branches = series.map(({ symbol, interval, files }) => {
  const paths = files.map(path => `'${path}'`).join(',')
  const read = `read_json([${paths}], format='unstructured', records=false, columns={json: 'VARCHAR[][]'})`
  return `SELECT '${symbol}' AS symbol, '${interval}' AS interval, ${cells} FROM (SELECT unnest(json) AS r FROM ${read})`
})
const codec = 'zstdCompress' in zlib ? 'zstd' : 'gzip'
const options = numbers === 'csv' ? 'FORMAT csv, HEADER' : `FORMAT parquet, COMPRESSION ${codec}, ROW_GROUP_SIZE 100000`

const connection = await (await DuckDBInstance.create(':memory:')).connect()
await connection.run('SET threads=2')
for (const [path, queries] of targets()) {
  await connection.run(`COPY (${queries.join(' UNION ALL ')}) TO '${path}' (${options})`)
}

/** The path of each file, and the queries of its series. */
function targets() {
  if (!out.includes('{')) return [[out, branches]]
  const name = ({ symbol, interval }) => out.replace('{symbol}', symbol).replace('{interval}', interval)
  // As klines, whose files of one series do not repeat its name in each row.
  return series.map((one, index) => [name(one), [`SELECT * EXCLUDE (symbol, interval) FROM (${branches[index]})`]])
}
