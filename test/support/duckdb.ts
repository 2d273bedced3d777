import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

let connection: Promise<DuckDBConnection> | undefined

/** The result of a query as objects, with the types DuckDB gives the columns. */
export async function duckdb(sql: string) {
  connection ??= DuckDBInstance.create(':memory:').then(instance => instance.connect())
  const result = await (await connection).runAndReadAll(sql)
  const types = result.columnTypes().map(String)
  return {
    rows: result.getRowObjectsJS() as Record<string, unknown>[],
    types: Object.fromEntries(result.columnNames().map((name, index) => [name, types[index]])),
  }
}
