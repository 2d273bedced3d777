import { BaseCommand } from '../cli/base-command.js'
import {
  acceptListFlag,
  deriveFlag,
  dryRunFlag,
  locationFlags,
  outputFlags,
  perSeriesFlag,
  progressFlag,
  selectionFlags,
  symbolArgs,
} from '../cli/flags.js'

export default class Export extends BaseCommand {
  static override summary = 'Export candles from the mirror alone; the network is never touched.'
  static override description =
    `A window that the range needs and the mirror lacks is named, nothing is written, and the exit code is 3. A range without --to ends with the last window of the mirror. all means every series the mirror holds.`
  static override examples = [
    "<%= config.bin %> <%= command.id %> BTCUSDT -i 1h -o '{symbol}-{interval}.parquet' --numbers decimal",
    '<%= config.bin %> <%= command.id %> all -i 1d -f csv -o - | gzip > all.csv.gz',
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 1h --resample 3h -o btcusdt-3h.csv',
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 1d --columns open_time,close --time-format iso -f csv',
  ]
  static override args = symbolArgs
  static override flags = {
    ...selectionFlags,
    ...outputFlags,
    derive: deriveFlag,
    ...locationFlags,
    'accept-list': acceptListFlag,
    'dry-run': dryRunFlag,
    progress: progressFlag,
    'per-series': perSeriesFlag,
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Export)
    const { runCandles } = await import('../cli/jobs/candles.js')
    const report = await runCandles(args.symbol, flags, true, this.context(flags))
    if (report) this.show(report)
  }
}
