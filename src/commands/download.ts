import { BaseCommand } from '../cli/base-command.js'
import { downloadFlags } from '../cli/flags/download.js'
import { orLock, symbolArgs } from '../cli/flags/selection.js'

export default class Download extends BaseCommand {
  static override summary = 'Download candles to the local mirror; export them with -o or -f.'
  static override description =
    `Downloads the windows of the range that are missing from the mirror or can still change. Final windows, which cannot change any more, are never downloaded again.

If a window cannot be downloaded, the others still are, nothing is exported, and the exit code is 3. Run the command again to download what is missing.

With --base-url binance, candles come from the exchange itself: any symbol, since 2017. all stands for the symbols of the mirror then, and a pattern for those of the exchange.

With --lock, the exit code is 6, and nothing is exported, if the candles are not exactly those of the lock.

With --resample, candles are aligned as the exchange aligns them: weeks start on Monday, 3d candles at the listing of the symbol, months, quarters and years by the calendar, all others at 1970-01-01.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 1h -o btcusdt-1h.csv',
    "<%= config.bin %> <%= command.id %> BTCUSDT ETHUSDT -i 1h --last 90d -o '{symbol}.parquet'",
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 15m --from yesterday --to today -f csv | head',
    '<%= config.bin %> <%= command.id %> PEPEUSDT btc/eur -i 15m,1d --base-url binance',
    '<%= config.bin %> <%= command.id %> all -i all',
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 1h,1d --layout hive -o lake/',
    "<%= config.bin %> <%= command.id %> --lock klines.lock.json -o '{symbol}-{interval}.csv'",
  ]
  static override args = symbolArgs
  static override flags = downloadFlags

  async run(): Promise<void> {
    const { args, flags } = await this.parse(orLock(Download, this.argv))
    const context = this.context(flags)
    const report =
      flags.lock === undefined
        ? await (await import('../cli/jobs/candles.js')).runCandles(args.symbol, flags, false, context)
        : await (await import('../cli/jobs/locked-download.js')).runLockedDownload(args.symbol, flags, context)
    if (report) this.show(report)
  }
}
