import { BaseCommand } from '../cli/base-command.js'
import { diffArgs, diffFlags } from '../cli/flags/diff.js'

export default class Diff extends BaseCommand {
  static override summary = 'Compare the candles of two mirrors, lakes, files or services.'
  static override description =
    `Compares all candles of both sides, to the last digit: prints the verdict, then the candles that only one side has and the cells that differ, with both values, in order of time. Of each series, the first 20; with -v all. Numbers compare by value, so 1.50 is 1.5, and the column ignore is left out.

Series are those of both sides; beside a file or a lake, a mirror has only the series of that. A service, which is binance or a base address, is downloaded into its own mirror as far as that is needed, from the first to the last candle of the other side unless --from and --to say otherwise. All else is offline, and compared as a whole: candles of one side before the first or after the last one of the other are a difference, too.

Where a mirror lacks a window of which the other side has candles, or where that is corrupt, nothing is compared. Files of doubles are refused, because they have not all digits.
Exit codes: 0 equal, 3 windows are missing and all else is equal, or neither side has a series that is named, 4 neither side has a candle in the range, 6 candles differ, also if windows are missing.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> mirror-2024/ mirror-2025/',
    '<%= config.bin %> <%= command.id %> btcusdt-1h.csv lake/ --from 2024 --to 2025 -v',
    '<%= config.bin %> <%= command.id %> candles/ binance BTCUSDT -i 1h,1d --json',
  ]
  static override args = diffArgs
  static override flags = diffFlags

  protected override readonly interruptionAdvice: string =
    'The comparison is not complete; mirrors keep what was downloaded.'

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Diff)
    const { runDiff } = await import('../cli/jobs/diff.js')
    const context = this.context(flags)
    process.exitCode = await runDiff(args, flags, context, report => this.showPieces(report, context.signal))
  }
}
