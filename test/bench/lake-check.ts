import { DuckDBInstance } from '@duckdb/node-api'

/** Throws unless two folders `symbol=X/interval=Y/` of Parquet files have the same series, with the same counts and exact sums. */
export async function checkSameLake(ours: string, theirs: string): Promise<void> {
  const [a, b] = [await sums(ours), await sums(theirs)]
  if (a !== b) throw new Error(`${theirs} has other candles than ${ours}: ${b}, not ${a}`)
}

/** The count and sums of each series, as text. A double is the decimal that is nearest to it. */
async function sums(folder: string): Promise<string> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const columns = [
    'open',
    'high',
    'low',
    'close',
    'volume',
    'quote_volume',
    'taker_buy_volume',
    'taker_buy_quote_volume',
  ]
  const reader = await connection.runAndReadAll(`
    SELECT symbol, "interval", count(*), sum(epoch_ms(open_time)), sum(epoch_ms(close_time)), sum(count),
      ${columns.map(name => `sum(${name}::DECIMAL(38,8))`)}
    FROM read_parquet('${folder}/*/*/*.parquet', hive_partitioning=true, hive_types={symbol: VARCHAR, "interval": VARCHAR})
    GROUP BY ALL ORDER BY ALL`)
  const rows = reader.getRows().map(row => row.map(String).join())
  connection.closeSync()
  if (rows.length === 0) throw new Error(`${folder} has no candles`)
  return rows.join('; ')
}
