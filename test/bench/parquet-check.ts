import { DuckDBInstance } from '@duckdb/node-api'

const COLUMNS =
  'symbol,interval,open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore'

/** Throws unless two Parquet files have the same columns, types, rows and compression: times in ms, count INT64, numbers DOUBLE. */
export async function checkSameParquet(ours: string, theirs: string): Promise<void> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJS()
  const columns = COLUMNS.split(',')
  const expected = columns.map(name => `${name} ${expectedType(name)}`).join()
  for (const path of [ours, theirs]) {
    const found = await rows(`SELECT column_name, column_type FROM (DESCRIBE FROM '${path}')`)
    // A library may write timestamps with or without a time zone; the instants are the same.
    const actual = found.map(([name, type]) => `${name} ${String(type).replace(/^TIMESTAMP.*/, 'TIMESTAMP')}`).join()
    if (actual !== expected) throw new Error(`${path} has the columns ${actual}, not ${expected}`)
  }
  const codecs = await rows(`SELECT DISTINCT compression FROM parquet_metadata(['${ours}', '${theirs}'])`)
  if (codecs.length !== 1) throw new Error(`${theirs} has another compression: ${codecs.join(', ')}`)
  const cells = columns.map(name => (name.endsWith('_time') ? `epoch_ms(${name})` : name))
  for (const [a, b] of [
    [ours, theirs],
    [theirs, ours],
  ]) {
    const [[count]] = await rows(
      `SELECT count(*) FROM (SELECT ${cells} FROM '${a}' EXCEPT ALL SELECT ${cells} FROM '${b}')`,
    )
    if (Number(count) !== 0) throw new Error(`${count} rows of ${a} are not in ${b}`)
  }
  connection.closeSync()
}

function expectedType(name: string): string {
  if (['symbol', 'interval', 'ignore'].includes(name)) return 'VARCHAR'
  if (name.endsWith('_time')) return 'TIMESTAMP'
  return name === 'count' ? 'BIGINT' : 'DOUBLE'
}
