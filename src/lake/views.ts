import { resolve } from 'node:path'
import { PART_FILE, type Partition } from './layout.js'
import type { LakeOptions } from './options.js'

/** The file of a lake that makes its tables in DuckDB. */
export const VIEWS_FILE = '_views.sql'

/** The types of the columns that folders name, for each partitioning, as DuckDB calls them. */
const FOLDER_COLUMNS = {
  none: { symbol: 'varchar', interval: 'varchar' },
  year: { symbol: 'varchar', interval: 'varchar', year: 'integer' },
  month: { symbol: 'varchar', interval: 'varchar', year: 'integer', month: 'integer' },
}

/** The names of these columns, in the order of the folders. */
export function folderColumns(partition: Partition): string[] {
  return Object.keys(FOLDER_COLUMNS[partition])
}

/** Columns whose values are not the names of their folders: that of 1m is `interval=1min`. */
const EXPRESSIONS: Readonly<Record<string, string>> = {
  interval: `case "interval" when '1min' then '1m' else "interval" end as "interval"`,
}

/** A text as an SQL literal. */
function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** Makes the view `klines`, all candles, in DuckDB's SQL. `files`: a glob of parts as an SQL expression. */
function klinesView(files: string, partition: Partition): string {
  const hiveTypes = Object.entries(FOLDER_COLUMNS[partition]).map(([name, type]) => `"${name}": ${type}`)
  const values = folderColumns(partition).map(name => EXPRESSIONS[name] ?? `"${name}"`)
  return `create or replace temp view klines as
select ${values.join(', ')}, * exclude (${quoteColumns(partition)})
from read_parquet(
  ${files},
  hive_partitioning = true,
  hive_types = { ${hiveTypes.join(', ')} }
);`
}

/** Makes the macro `candles('BTCUSDT', '1d')`, the candles of one series, in DuckDB's SQL. */
function candlesMacro(partition: Partition): string {
  return `create or replace temp macro candles(a_symbol, an_interval) as table
select * exclude (${quoteColumns(partition)}) from klines where symbol = a_symbol and "interval" = an_interval;`
}

/** The content of `_views.sql` for a lake in the folder `root`. */
export function lakeViews(root: string, { partition }: LakeOptions): Buffer {
  const glob = [...folderColumns(partition).map(name => `${name}=*`), PART_FILE].join('/')
  const files = `getvariable('klines_pattern') || ${sqlText(`/${glob}`)}`
  const text = `-- For DuckDB: duckdb -init _views.sql. After the lake was moved, write its new path into the first statement, or run klines with the new folder.

-- The folder of the lake.
set variable klines_lake = ${sqlText(resolve(root))};

-- The same as a pattern: * ? [ in the name of the folder stand for themselves.
set variable klines_pattern = regexp_replace(getvariable('klines_lake'), '([*?[])', '[\\1]', 'g');

-- Times are UTC; without this, year(open_time) and the like follow the zone of the machine.
set TimeZone = 'UTC';

-- All candles: select * from klines where symbol = 'BTCUSDT' and interval = '1d';
${klinesView(files, partition)}

-- The candles of one series: select * from candles('BTCUSDT', '1d');
${candlesMacro(partition)}
`
  return Buffer.from(text)
}

function quoteColumns(partition: Partition): string {
  return folderColumns(partition)
    .map(name => `"${name}"`)
    .join(', ')
}
