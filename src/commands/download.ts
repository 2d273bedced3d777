import { BaseCommand } from '../cli/base-command.js'
import {
  acceptListFlag,
  dryRunFlag,
  fetchFlags,
  locationFlags,
  outputFlags,
  perSeriesFlag,
  progressFlag,
  selectionFlags,
  symbolArgs,
} from '../cli/flags.js'

export default class Download extends BaseCommand {
  static override summary = 'Bring candles into the mirror, and export them with -o or -f.'
  static override description =
    `Walks the list of start dates and asks for every window of the range that is not final in the mirror; windows that were brought once and are full are never asked for again.
When a window cannot be had, the others are brought all the same, nothing is exported, and the exit code is 3.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 1h -o btcusdt-1h.csv',
    "<%= config.bin %> <%= command.id %> BTCUSDT ETHUSDT -i 1h --from 2024-01-01 --to 2024-07-01 -o '{symbol}-{interval}.parquet'",
    '<%= config.bin %> <%= command.id %> all -i all',
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 15m --last 7d -f csv | head',
  ]
  static override args = symbolArgs
  static override flags = {
    ...selectionFlags,
    ...outputFlags,
    ...locationFlags,
    ...fetchFlags,
    'accept-list': acceptListFlag,
    'dry-run': dryRunFlag,
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
