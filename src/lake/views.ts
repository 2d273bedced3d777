/** The types of the columns that folders name, for each partitioning, as DuckDB calls them. */
const FOLDER_COLUMNS = {
  none: { symbol: 'varchar', interval: 'varchar' },
  year: { symbol: 'varchar', interval: 'varchar', year: 'integer' },
  month: { symbol: 'varchar', interval: 'varchar', year: 'integer', month: 'integer' },
}

/** The calendar span of a part. */
export type Partition = keyof typeof FOLDER_COLUMNS

/** A text as an SQL literal. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** Makes the view `klines`, all candles, in DuckDB's SQL. `files`: a list or a glob of parts as an SQL expression. */
export function klinesView(files: string, partition: Partition): string {
  const types = Object.entries(FOLDER_COLUMNS[partition])
  const hiveTypes = types.map(([name, type]) => `"${name}": ${type}`).join(', ')
  return `create or replace temp view klines as
select ${columnNames(partition)}, * exclude (${columnNames(partition)})
from read_parquet(
  ${files},
  hive_partitioning = true,
  hive_types = { ${hiveTypes} }
);`
}

/** Makes the macro `candles('BTCUSDT', '1d')`, the candles of one series, in DuckDB's SQL. */
export function candlesMacro(partition: Partition): string {
  return `create or replace temp macro candles(a_symbol, an_interval) as table
select * exclude (${columnNames(partition)}) from klines where symbol = a_symbol and "interval" = an_interval;`
}

/** The columns that folders name. */
function columnNames(partition: Partition): string {
  return Object.keys(FOLDER_COLUMNS[partition])
    .map(name => `"${name}"`)
    .join(', ')
}
