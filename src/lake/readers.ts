import { resolve } from 'node:path'
import type { LakeOptions } from './manifest.js'

export const VIEWS_FILE = '_views.sql'
export const README_FILE = '_README.md'

/** The paths of all parts, for readers. */
const GLOB = 'symbol=*/interval=*/part-0.parquet'

export function lakeViews(root: string): Buffer {
  // The folder of 1m is `interval=1min`.
  const interval = `case "interval" when '1min' then '1m' else "interval" end as "interval"`
  const text = `-- For DuckDB: duckdb -init _views.sql. After the lake was moved, write its new path into the first statement, or run klines with the new folder.

-- The folder of the lake.
set variable klines_lake = '${resolve(root).replaceAll("'", "''")}';

-- The same as a pattern: * ? [ in the name of the folder stand for themselves.
set variable klines_pattern = regexp_replace(getvariable('klines_lake'), '([*?[])', '[\\1]', 'g');

-- Times are UTC; without this, year(open_time) and the like follow the zone of the machine.
set TimeZone = 'UTC';

-- All candles: select * from klines where symbol = 'BTCUSDT' and interval = '1d';
create or replace temp view klines as
select "symbol", ${interval}, * exclude ("symbol", "interval")
from read_parquet(
  getvariable('klines_pattern') || '/${GLOB}',
  hive_partitioning = true,
  hive_types = { "symbol": varchar, "interval": varchar }
);

-- The candles of one series: select * from candles('BTCUSDT', '1d');
create or replace temp macro candles(a_symbol, an_interval) as table
select * exclude ("symbol", "interval") from klines where symbol = a_symbol and "interval" = an_interval;
`
  return Buffer.from(text)
}

/** The content of `_README.md`. It does not name the folder, so that it holds wherever the lake is moved. */
export function lakeReadme({ numbers }: LakeOptions): Buffer {
  const decimals = { double: 'double', decimal: 'decimal(38,8)', text: 'string' }[numbers]
  const text = `# A lake of candles

Parquet files that \`klines\` keeps up to date; all of them are one table. \`symbol\` and \`interval\` are the names of folders and not in
the files; the folder of 1m is \`interval=1min\`. Rows are sorted by \`open_time\`, and all times are UTC.

\`LAKE\` stands for the folder of the lake. Its path is written in one place, the first statement of \`${VIEWS_FILE}\`: after moving the
lake, change it there, or run \`klines\` with the new folder. For an object store, copy the folder: \`LAKE\` is its address then.

## DuckDB

\`duckdb -init LAKE/${VIEWS_FILE}\` makes the view \`klines\` and the macro \`candles\`.

\`\`\`sql
select symbol, interval, count(*) as candles from klines group by all order by all;
select count(*) as candles from candles('BTCUSDT', '1d');
select * from klines where symbol = 'BTCUSDT' and interval = '1d' limit 5;
\`\`\`

Exact sums need DECIMAL columns (\`--numbers decimal\`); \`/\` and \`avg\` make doubles of them.

## Other programs

Any program that knows Hive's folders reads the lake: Polars, ClickHouse, Spark, Hive, Trino and Athena.

\`\`\`python
polars.scan_parquet('LAKE/${GLOB}', hive_partitioning=True)
\`\`\`

\`\`\`sql
select symbol, interval, count() from file('LAKE/${GLOB}', Parquet) group by all settings use_hive_partitioning = 1;
\`\`\`

Name the types where a program guesses them: from the folders alone, Spark takes \`interval=1d\` for the number 1.0. The folders are
strings, \`open_time\` and \`close_time\` are timestamps, \`count\` is a bigint, and prices and volumes are of the type
\`${decimals}\`. A table in SQL is partitioned by symbol and \`interval\`, which needs quotes or backticks, and is located at \`LAKE\`;
run \`msck repair table\` (Spark, Hive, Athena) or \`sync_partition_metadata\` (Trino) again when there are new series.
`
  return Buffer.from(text)
}
