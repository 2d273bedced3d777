// usage: duckdb-sum.mjs GLOB COUNT: reads window files with DuckDB and two threads, sums their volumes, and fails unless they have so many
// candles.
import { DuckDBInstance } from '@duckdb/node-api'

const [glob, count] = process.argv.slice(2)
const connection = await (await DuckDBInstance.create(':memory:')).connect()
await connection.run('SET threads=2')
const read = `read_json('${glob}', format='unstructured', records=false, columns={json: 'VARCHAR[][]'})`
const reader = await connection.runAndReadAll(
  `SELECT count(*), sum(r[6]::DOUBLE) FROM (SELECT unnest(json) AS r FROM ${read})`,
)
const [[found]] = reader.getRows()
if (String(found) !== count) throw new Error(`${glob} has ${found} candles, not ${count}`)
