import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

let connection: Promise<DuckDBConnection> | undefined

/** Without its cache of files: that knows a file by size and time, and takes one written again within a tick for the old one. */
async function connect(): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(':memory:', { enable_external_file_cache: 'false' })
  return instance.connect()
}

/** The result of a query as objects, with the types DuckDB gives the columns. */
export async function duckdb(sql: string) {
  connection ??= connect()
  const result = await (await connection).runAndReadAll(sql)
  const types = result.columnTypes().map(String)
  return {
    rows: result.getRowObjectsJS() as Record<string, unknown>[],
    types: Object.fromEntries(result.columnNames().map((name, index) => [name, types[index]])),
  }
}
