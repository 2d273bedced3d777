import { BaseCommand } from '../cli/base-command.js'
import { exportFlags } from '../cli/flags/download.js'
import { symbolArgs } from '../cli/flags/selection.js'

export default class Export extends BaseCommand {
  static override summary = 'Export candles from the local mirror; works offline.'
  static override description =
    `If the mirror lacks a window of the range, nothing is written, the missing windows are listed, and the exit code is 3.

Without --from, the range begins with the first window in the mirror, and without --to it ends with the newest candle there. all stands for every symbol or interval in the mirror.`
  static override examples = [
    "<%= config.bin %> <%= command.id %> BTCUSDT -i 1h -o '{symbol}-{interval}.parquet'",
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 1h --resample 3h -o btcusdt-3h.csv',
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 1d --columns open_time,close -f csv',
    '<%= config.bin %> <%= command.id %> all -i 1d -f csv | gzip > all.csv.gz',
    '<%= config.bin %> <%= command.id %> all -i all --layout hive -o lake/',
  ]
  static override args = symbolArgs
  static override flags = exportFlags

  protected override readonly interruptionAdvice: string = 'No file is half written; run the same command again.'

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Export)
    const { runCandles } = await import('../cli/jobs/candles.js')
    const report = await runCandles(args.symbol, flags, true, this.context(flags))
    if (report) this.show(report)
  }
}
