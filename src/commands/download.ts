import { BaseCommand } from '../cli/base-command.js'
import { lakeFlags } from '../cli/flags/lake.js'
import { locationFlags } from '../cli/flags/location.js'
import { fetchFlags } from '../cli/flags/network.js'
import { dryRunFlag, outputFlags, perSeriesFlag, progressFlag, threadsFlag } from '../cli/flags/output.js'
import {
  acceptListFlag,
  failOnGapsFlag,
  failOnRestatedFlag,
  limitFlag,
  selectionFlags,
  symbolArgs,
  tailFlag,
  yesFlag,
} from '../cli/flags/selection.js'

export default class Download extends BaseCommand {
  static override summary = 'Download candles to the local mirror; export them with -o or -f.'
  static override description =
    `Downloads the windows of the range that are missing from the mirror or can still change. Final windows, which cannot change any more, are never downloaded again.

If a window cannot be downloaded, the others still are, nothing is exported, and the exit code is 3. Run the command again to download what is missing.

With --base-url binance, candles come from the exchange itself: any symbol, since 2017. all stands for the symbols of the mirror then, and a pattern for those of the exchange.

With --resample, candles are aligned as the exchange aligns them: weeks start on Monday, 3d candles at the listing of the symbol, months, quarters and years by the calendar, all others at 1970-01-01.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 1h -o btcusdt-1h.csv',
    "<%= config.bin %> <%= command.id %> BTCUSDT ETHUSDT -i 1h --last 90d -o '{symbol}.parquet'",
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 15m --from yesterday --to today -f csv | head',
    '<%= config.bin %> <%= command.id %> PEPEUSDT btc/eur -i 15m,1d --base-url binance',
    '<%= config.bin %> <%= command.id %> all -i all',
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 1h,1d --layout hive -o lake/',
  ]
  static override args = symbolArgs
  static override flags = {
    ...selectionFlags,
    limit: limitFlag,
    tail: tailFlag,
    ...outputFlags,
    ...lakeFlags,
    ...locationFlags,
    ...fetchFlags,
    'accept-list': acceptListFlag,
    'fail-on-gaps': failOnGapsFlag,
    'fail-on-restated': failOnRestatedFlag,
    yes: yesFlag,
    'dry-run': dryRunFlag,
    threads: threadsFlag,
    progress: progressFlag,
    'per-series': perSeriesFlag,
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Download)
    const { runCandles } = await import('../cli/jobs/candles.js')
    const report = await runCandles(args.symbol, flags, false, this.context(flags))
    if (report) this.show(report)
  }
}
