// usage: duckdb-years.mjs LIST plain|fast: prints the yearly means of the closes of the first series of the list, from its window files.
import { readFileSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'

const [list, cast] = process.argv.slice(2)
const [{ files }] = JSON.parse(readFileSync(list, 'utf8'))
const paths = files.map(path => `'${path}'`).join()

const connection = await (await DuckDBInstance.create(':memory:')).connect()
await connection.run("SET threads=2; SET TimeZone='UTC'")
// By way of 64 bits, which fit every value of the slice and fail otherwise, a cast to 128 bits is much faster.
const type = cast === 'fast' ? 'DECIMAL(18,8)::DECIMAL(38,8)' : 'DECIMAL(38,8)'
const reader = await connection.runAndReadAll(`
  SELECT year(make_timestamptz(r[1]::BIGINT * 1000)) AS year, avg(r[5]::${type}) AS mean, count(*)::INT AS candles
  FROM (SELECT unnest(json) AS r FROM read_json([${paths}], format='unstructured', records=false, columns={json: 'VARCHAR[][]'}))
  GROUP BY year ORDER BY year`)
console.log(JSON.stringify(reader.getRowObjectsJS().map(({ year, ...row }) => ({ year: Number(year), ...row }))))
