import { BaseCommand } from '../cli/base-command.js'
import { orLock, symbolArgs } from '../cli/flags/selection.js'
import { verifyFlags } from '../cli/flags/verify.js'

export default class Verify extends BaseCommand {
  static override summary = 'Check the candles of the mirror, to the last digit.'
  static override description =
    `Each candle is checked by itself (order, grid, prices, volumes), and each one that finer intervals of the mirror cover is compared with the exact sum of its finer candles, in all columns. Every candle that fails is named, of invalid ones the first 10,000 of each kind and series.
Windows that are on the list of start dates and have started, but are not in the mirror, are missing. Without --from, --to or --last, each series is checked from its first to its last cached window.
Gaps within cached windows, usually outages of the exchange, are listed, and are failures only with --fail-on-gaps; so are closed candles that are missing at an end of the range that --from, --to or --last name. Of the newest ones, those of 48 hours may be missing, of the exchange two. A close time that differs by 1 ms in a candle that closes early is a note.
With --lock, only the fingerprints of a lock are compared, and the exit code is 6 if one differs.
Exit codes: 0 no problems found, 3 windows are missing, 4 there are no candles, 6 a candle fails or a window is corrupt.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> all -i all',
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 1h,4h,1d --from 2024 --to 2025 -v',
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 1h --last 90d --fail-on-gaps --json',
    '<%= config.bin %> <%= command.id %> --lock klines.lock.json',
  ]
  static override args = symbolArgs
  static override flags = verifyFlags

  protected override readonly interruptionAdvice: string = 'The check is not complete; nothing was changed.'

  async run(): Promise<void> {
    const { args, flags } = await this.parse(orLock(Verify, this.argv))
    const { runVerify } = await import('../cli/jobs/verify.js')
    this.showData(await runVerify(args.symbol, flags, this.context(flags)))
  }
}
