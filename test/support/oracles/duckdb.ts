import { readFileSync } from 'node:fs'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

let connection: Promise<DuckDBConnection> | undefined

/** The cache of files is off: it identifies a file by size and time, and would miss a file rewritten within one tick. */
async function connect(): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(':memory:', { enable_external_file_cache: 'false' })
  return instance.connect()
}

/** The rows of a query as objects, with the columns' DuckDB types. */
export async function duckdb(sql: string) {
  connection ??= connect()
  const result = await (await connection).runAndReadAll(sql)
  const types = result.columnTypes().map(String)
  return {
    rows: result.getRowObjectsJS() as Record<string, unknown>[],
    types: Object.fromEntries(result.columnNames().map((name, index) => [name, types[index]])),
  }
}

/** A new DuckDB that has run the statements of a file, as `duckdb -init FILE` does. */
export async function initDuckdb(file: string) {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await connection.run(readFileSync(file, 'utf8'))
  return async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson()
}
