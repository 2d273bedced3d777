import { type ColumnType, columnType } from '../formats/row-format.js'
import type { LakeOptions } from './options.js'
import { folderColumns, VIEWS_FILE } from './views.js'

/** The names of types in one engine. */
type TypeNames = Readonly<Record<ColumnType, string>>

/** The columns of a lake's files with their types: `open_time timestamp, open double`. `quote` surrounds a name. */
function describeColumns({ columns, numbers }: LakeOptions, types: TypeNames, quote = ''): string {
  return columns.map(name => `${quote}${name}${quote} ${types[columnType(name, numbers)]}`).join(', ')
}

/** The file of a lake that tells people how to read it. */
export const README_FILE = '_README.md'

const COMMON = { count: 'bigint', double: 'double', decimal: 'decimal(38,8)' }
const SPARK: TypeNames = { ...COMMON, time: 'timestamp', text: 'string' }
const TRINO: TypeNames = { ...COMMON, time: 'timestamp(3)', text: 'varchar' }
/** How Athena finds the folders of years and months. */
const PROJECTIONS: Readonly<Record<string, string>> = {
  year: `'projection.year.type' = 'integer', 'projection.year.range' = '2017,2099',`,
  month: `'projection.month.type' = 'integer', 'projection.month.range' = '1,12', 'projection.month.digits' = '2',`,
}

/** The content of `_README.md`. It does not name the folder, so that it holds wherever the lake is moved. */
export function lakeReadme(options: LakeOptions): Buffer {
  const folders = folderColumns(options.partition)
  // Beside symbol and interval.
  const names = folders.slice(2)
  const projection = names.map(name => `\n  ${PROJECTIONS[name]}`).join('')
  const typed = (type: string) => names.map(name => `, ${name} ${type}`).join('')
  const glob = [...folders.map(name => `${name}=*`), '*.parquet'].join('/')
  const text = `# A lake of candles

Parquet files that \`klines\` keeps up to date; all of them are one table. \`symbol\` and \`interval\` (and \`year\` and \`month\`, where
there are such folders) are the names of folders and not in the files; the folder of 1m is \`interval=1min\`. Rows are sorted by \`open_time\`, and all times are UTC.

\`LAKE\` stands for the folder of the lake. Its path is written in one place, the first statement of \`${VIEWS_FILE}\`: after moving the
lake, change it there, or run \`klines\` with the new folder. For an object store, copy the folder: \`LAKE\` is its address then.

The tests of klines run the statements for DuckDB. Those for Polars, ClickHouse, Spark, Trino and Athena follow from their documentation.

## DuckDB

\`duckdb -init LAKE/${VIEWS_FILE}\` makes the view \`klines\` and the macro \`candles\`.

\`\`\`sql
select symbol, interval, count(*) as candles from klines group by all order by all;
select count(*) as candles from candles('BTCUSDT', '1d');
select * from klines where symbol = 'BTCUSDT' and interval = '1d' limit 5;
\`\`\`

Exact sums need DECIMAL columns (\`--numbers decimal\`); \`/\` and \`avg\` make doubles of them.

## Polars

\`\`\`python
import polars as pl
candles = pl.scan_parquet('LAKE/${glob}', hive_partitioning=True, hive_schema={'symbol': pl.String, 'interval': pl.String${names.map(name => `, '${name}': pl.Int32`).join('')}})
candles.filter(pl.col('symbol') == 'BTCUSDT', pl.col('interval') == '1d').collect()
\`\`\`

## ClickHouse

\`\`\`sql
select symbol, interval, count() from file('LAKE/${glob}', Parquet) group by all settings use_hive_partitioning = 1;
\`\`\`

## Spark

The types are explicit: from the folders alone, Spark takes \`interval=1d\` for the number 1.0.

\`\`\`sql
create table klines (${describeColumns(options, SPARK, '`')}, symbol string, \`interval\` string${typed('int')})
using parquet partitioned by (symbol, \`interval\`${names.map(name => `, ${name}`).join('')}) location 'LAKE';
msck repair table klines;
select count(*) from klines where symbol = 'BTCUSDT' and \`interval\` = '1d';
\`\`\`

Run \`msck repair table klines\` again when there are new series. Without a table:
\`spark.conf.set('spark.sql.sources.partitionColumnTypeInference.enabled', False)\`, then \`spark.read.parquet('LAKE')\`.

## Trino

\`\`\`sql
create table hive.default.klines (${describeColumns(options, TRINO, '"')}, symbol varchar, "interval" varchar${typed('integer')})
with (format = 'PARQUET', external_location = 'LAKE', partitioned_by = array['symbol', 'interval'${names.map(name => `, '${name}'`).join('')}]);
call hive.system.sync_partition_metadata('default', 'klines', 'FULL');
select count(*) from hive.default.klines where symbol = 'BTCUSDT' and "interval" = '1d';
\`\`\`

## Athena

List your own symbols and intervals; no partition has to be loaded then.

\`\`\`sql
create external table klines (${describeColumns(options, SPARK, '`')})
partitioned by (symbol string, \`interval\` string${typed('int')})
stored as parquet location 's3://BUCKET/LAKE/'
tblproperties (
  'projection.enabled' = 'true',
  'projection.symbol.type' = 'enum', 'projection.symbol.values' = 'BTCUSDT,ETHUSDT',
  'projection.interval.type' = 'enum', 'projection.interval.values' = '1h,1d',${projection}
  'storage.location.template' = 's3://BUCKET/LAKE/${folders.map(name => `${name}=\${${name}}/`).join('')}'
);
select count(*) from klines where symbol = 'BTCUSDT' and "interval" = '1d';
\`\`\`
`
  return Buffer.from(text)
}
