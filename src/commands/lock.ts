import { BaseCommand } from '../cli/base-command.js'
import { lockFlags } from '../cli/flags/lock.js'
import { symbolArgs } from '../cli/flags/selection.js'

export default class Lock extends BaseCommand {
  static override summary = 'Write a lock file: which candles of the mirror a result rests on.'
  static override description =
    `A lock has the fingerprint of each series, so that klines download --lock gets exactly these candles on another machine, or says which years differ. It belongs in the repository of what is made of the candles: the same candles have the same bytes.

Only candles that can no longer change are locked: each series ends with its last one whose window was rendered, or sent by the exchange, a day or more after the candle's end. Works offline. If the mirror lacks a window of the range, the exit code is 3.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> BTCUSDT ETHUSDT -i 1h,1d --from 2022',
    '<%= config.bin %> <%= command.id %> all -i all -o data.lock.json --force',
    '<%= config.bin %> download --lock klines.lock.json',
    '<%= config.bin %> verify --lock klines.lock.json',
  ]
  static override args = symbolArgs
  static override flags = lockFlags

  protected override readonly interruptionAdvice: string = 'No lock was written.'

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Lock)
    const { runLock } = await import('../cli/jobs/lock.js')
    const report = await runLock(args.symbol, flags, this.context(flags))
    if (report) this.show(report)
  }
}
