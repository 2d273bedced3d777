import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { locationFlags, mirrorSeriesFlags, progressFlag, symbolArgs } from '../cli/flags.js'

export default class Verify extends BaseCommand {
  static override summary = 'Prove that the candles of the mirror are whole and right, to the last digit.'
  static override description =
    `Per series: gaps, candles that close early or have no trade, order, grid, sanity of prices and volumes. Then each candle that a finer interval of the mirror covers is compared with the exact sum of its finer candles, in all columns: a digit that changed anywhere in it is found. Candles that nothing covers are counted as such.
Gaps that several symbols share are outages of the exchange. Exit code 6 when something is wrong; gaps are no fault unless --fail-on-gaps.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> BTCUSDT -i all',
    '<%= config.bin %> <%= command.id %> all -i 1h,4h,1d -v',
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 1h --fail-on-gaps --json',
  ]
  static override args = symbolArgs
  static override flags = {
    ...mirrorSeriesFlags,
    audit: Flags.boolean({
      summary: 'Compare intervals with one another.',
      default: true,
      allowNo: true,
      env: 'KLINES_AUDIT',
    }),
    'fail-on-gaps': Flags.boolean({ summary: 'Exit code 6 for missing candles too.', env: 'KLINES_FAIL_ON_GAPS' }),
    ...locationFlags,
    progress: progressFlag,
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Verify)
    const { runVerify } = await import('../cli/jobs/verify.js')
    const report = await runVerify(args.symbol, flags, this.context(flags))
    this.showData(report)
    process.exitCode = report.exitCode
  }
}
