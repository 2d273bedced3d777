import { DuckDBInstance } from '@duckdb/node-api'

const SERIES = ['symbol', 'interval']
const CANDLE =
  'open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore'

/**
 * Throws unless two Parquet files have the same columns, types and rows: times in ms, count INT64, `decimal` the rest. A file of
 * several series begins with their names.
 */
export async function checkSameParquet(
  ours: string,
  theirs: string,
  decimal: 'DOUBLE' | 'DECIMAL(38,8)',
  { several }: { readonly several: boolean },
): Promise<void> {
  const columns = [...(several ? SERIES : []), ...CANDLE.split(',')]
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJS()
  const expected = columns.map(name => `${name} ${expectedType(name, decimal)}`).join()
  for (const path of [ours, theirs]) {
    const found = await rows(`SELECT column_name, column_type FROM (DESCRIBE FROM '${path}')`)
    // A library may write timestamps with or without a time zone; the instants are the same.
    const actual = found.map(([name, type]) => `${name} ${String(type).replace(/^TIMESTAMP.*/, 'TIMESTAMP')}`).join()
    if (actual !== expected) throw new Error(`${path} has the columns ${actual}, not ${expected}`)
    const units = await rows(
      `SELECT count(*) FROM parquet_schema('${path}') WHERE name LIKE '%_time' AND (logical_type LIKE '%MILLIS%' OR converted_type = 'TIMESTAMP_MILLIS')`,
    )
    if (Number(units[0][0]) !== 2) throw new Error(`${path} does not store its times in ms`)
  }
  const cells = columns.map(name => (name.endsWith('_time') ? `epoch_ms(${name})` : name))
  const select = (path: string) => `(SELECT ${cells} FROM '${path}')`
  for (const [a, b] of [
    [ours, theirs],
    [theirs, ours],
  ]) {
    const [[count]] = await rows(`SELECT count(*) FROM (FROM ${select(a)} EXCEPT ALL FROM ${select(b)})`)
    if (Number(count) !== 0) throw new Error(`${count} rows of ${a} are not in ${b}`)
  }
  connection.closeSync()
}

function expectedType(name: string, decimal: string): string {
  if (['symbol', 'interval', 'ignore'].includes(name)) return 'VARCHAR'
  if (name.endsWith('_time')) return 'TIMESTAMP'
  return name === 'count' ? 'BIGINT' : decimal
}
