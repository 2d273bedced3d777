/** A text as an SQL literal. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/**
 * The statements that make the view `klines` (symbol, interval and the columns of the parts) and the macro
 * `candles('BTCUSDT', '1d')`, in DuckDB's SQL. `files`: a list or a glob of parts as an SQL expression.
 */
export function viewStatements(files: string): string[] {
  const types = '{symbol: varchar, "interval": varchar}'
  return [
    `create view klines as select symbol, "interval", * exclude (symbol, "interval")
from read_parquet(${files}, hive_partitioning = true, hive_types = ${types})`,
    `create macro candles(symbol_name, interval_name) as table
select * from klines where symbol = symbol_name and "interval" = interval_name`,
  ]
}
