import type { Partition } from '../layout.js'
import { folderColumns, VIEWS_FILE } from '../root/views.js'

/** The content of `_README.md` in a Delta table. It does not name the folder, so that it holds wherever the table is moved. */
export function tableReadme(partition: Partition): Buffer {
  const columns = folderColumns(partition).map(name => `\`${name}\``)
  const text = `# A lake of candles, as a Delta table

Parquet files that \`klines\` keeps up to date, and a Delta Lake log of them in \`_delta_log\`. Each run with changes adds one version:
readers see all of it or nothing of it, and can read older versions. The columns ${columns.join(', ')} are not in the files
but in the log. Rows are sorted by \`open_time\`, and all times are UTC.

**Read it by its log, not by its files.** A version replaces no file: those of older versions stay until \`--vacuum\` removes them, and a
plain glob such as \`*.parquet\` would count their candles as well. \`klines sql\` and \`${VIEWS_FILE}\` name the files of the newest version.

\`LAKE\` stands for the folder of the lake. The log has relative paths, so the folder can be moved or copied to an object store;
\`LAKE\` is its address then. Only \`${VIEWS_FILE}\` has the path, in its first statement: change it there, or run \`klines\` with the new
folder.

Tested with such a table: \`${VIEWS_FILE}\` in DuckDB, whose statements the tests of klines run, and ClickHouse 26.7 (chdb), which reads the
log with Delta's own kernel. The statements for Spark, Databricks, Trino, Athena, Polars and DuckDB's delta extension follow from
their documentation.

## DuckDB

\`duckdb -init LAKE/${VIEWS_FILE}\` makes the view \`klines\` and the macro \`candles\`. Every run with changes writes that file again.

\`\`\`sql
select symbol, interval, count(*) as candles from klines group by all order by all;
select count(*) as candles from candles('BTCUSDT', '1d');
select * from klines where symbol = 'BTCUSDT' and interval = '1d' limit 5;
\`\`\`

Exact sums need DECIMAL columns (\`--numbers decimal\`); \`/\` and \`avg\` make doubles of them. With DuckDB's extension, which it downloads:
\`install delta; load delta; select count(*) from delta_scan('LAKE');\`

## ClickHouse

\`\`\`sql
select symbol, interval, count() from deltaLakeLocal('LAKE') group by all order by all;
select count() from deltaLakeLocal('LAKE') settings delta_lake_snapshot_version = 0;
\`\`\`

In an object store: \`deltaLake('https://BUCKET.s3.amazonaws.com/LAKE/')\`.

## Spark and Databricks

Spark needs the package \`io.delta:delta-spark\`; Databricks has it.

\`\`\`sql
create table klines using delta location 'LAKE';
select count(*) from klines where symbol = 'BTCUSDT' and \`interval\` = '1d';
select count(*) from klines version as of 0;
describe history klines;
\`\`\`

Only \`klines\` should write: no \`optimize\`, no \`vacuum\` of Spark.

## Trino

\`\`\`sql
call delta.system.register_table(schema_name => 'default', table_name => 'klines', table_location => 'LAKE');
select count(*) from delta.default.klines where symbol = 'BTCUSDT' and "interval" = '1d';
select count(*) from delta.default.klines for version as of 0;
\`\`\`

## Polars

\`\`\`python
import polars as pl
candles = pl.scan_delta('LAKE')
candles.filter(pl.col('symbol') == 'BTCUSDT', pl.col('interval') == '1d').collect()
pl.scan_delta('LAKE', version=0)
\`\`\`

## Athena

\`\`\`sql
create external table klines location 's3://BUCKET/LAKE/' tblproperties ('table_type' = 'DELTA');
\`\`\`

## Old versions

\`--vacuum 7d\` removes the files of versions that were replaced more than 7 days ago: those versions cannot be read any more. Choose an
age that no query lasts. The newest version always stays.
`
  return Buffer.from(text)
}
