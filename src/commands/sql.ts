import { BaseCommand } from '../cli/base-command.js'
import { sqlArgs, sqlFlags, withSqlLast } from '../cli/flags/sql.js'

export default class Sql extends BaseCommand {
  static override summary = 'Query candles with SQL, over a lake or the mirror (needs DuckDB).'
  static override description =
    `candles('BTCUSDT', '1d') is a table of one series. Over a lake (--lake), klines is a table of all series, with the columns symbol and interval before the others. Over the mirror, every series must be named by candles; its windows are checked first, and if one is missing or corrupt, the exit code is 3.

The SQL is one select of DuckDB's dialect, or explain and a select. It reads the candles and nothing else: no other file, no network, no extension, no writing. The time zone is UTC.

DECIMAL columns, their sums, minima and maxima are exact; a division and avg give a DOUBLE. In JSON, decimals and whole numbers beyond 2^53 are texts. Times are ISO 8601 in UTC; epoch_ms(open_time) gives milliseconds. A table has the first 20 rows.

DuckDB is an optional package: npm install @duckdb/node-api.`
  static override examples = [
    `<%= config.bin %> <%= command.id %> "select max(high) from candles('BTCUSDT', '1d')"`,
    "<%= config.bin %> <%= command.id %> --lake lake -f csv 'select count(*) from klines'",
    '<%= config.bin %> <%= command.id %> --lake lake -o result.parquet < query.sql',
  ]
  static override args = sqlArgs
  static override flags = sqlFlags

  protected override readonly interruptionAdvice: string = 'Nothing was written.'

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Sql, withSqlLast(this.argv))
    const { runSql } = await import('../cli/jobs/sql.js')
    const report = await runSql(args.sql, flags, this.context(flags))
    if (report) this.show(report)
  }
}
