import { resolve } from 'node:path'
import { PART_FILE } from './layout.js'
import type { LakeOptions } from './options.js'

/** The file of a lake that makes its tables in DuckDB. */
export const VIEWS_FILE = '_views.sql'

/** The types of the columns that folders name, for each partitioning, as DuckDB calls them. */
const FOLDER_COLUMNS = {
  none: { symbol: 'varchar', interval: 'varchar' },
  year: { symbol: 'varchar', interval: 'varchar', year: 'integer' },
  month: { symbol: 'varchar', interval: 'varchar', year: 'integer', month: 'integer' },
}

/** The content of `_views.sql` for a lake in the folder `root`. */
export function lakeViews(root: string, { partition }: LakeOptions): Buffer {
  const types = Object.entries(FOLDER_COLUMNS[partition])
  const glob = [...types.map(([name]) => `${name}=*`), PART_FILE].join('/')
  const hiveTypes = types.map(([name, type]) => `"${name}": ${type}`).join(', ')
  const names = types.map(([name]) => `"${name}"`).join(', ')
  const text = `-- The tables of this lake for DuckDB: duckdb -init _views.sql

-- The folder of the lake. After moving the lake, write its new path here, or run klines with the new folder.
set variable klines_lake = '${resolve(root).replaceAll("'", "''")}';

-- Times are UTC; without this, year(open_time) and the like follow the zone of the machine.
set TimeZone = 'UTC';

-- All candles: select * from klines where symbol = 'BTCUSDT' and interval = '1d';
create or replace temp view klines as
select ${names}, * exclude (${names})
from read_parquet(
  getvariable('klines_lake') || '/${glob}',
  hive_partitioning = true,
  hive_types = { ${hiveTypes} }
);

-- The candles of one series: select * from candles('BTCUSDT', '1d');
create or replace temp macro candles(a_symbol, an_interval) as table
select * exclude (${names}) from klines where symbol = a_symbol and "interval" = an_interval;
`
  return Buffer.from(text)
}
