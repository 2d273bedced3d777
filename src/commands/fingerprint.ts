import { BaseCommand } from '../cli/base-command.js'
import { fingerprintArgs, fingerprintFlags } from '../cli/flags/fingerprint.js'

export default class Fingerprint extends BaseCommand {
  static override summary = 'Print a fingerprint of candles: which ones exactly.'
  static override description =
    `The same candles have the same fingerprint, in the mirror and in every file that klines writes: CSV, JSON, JSON Lines (also compressed), Parquet and Arrow with decimals or text, and lakes, whatever the order of columns, the format of times, the compression and the version. From two series on, the last line is the fingerprint of all of them.

Works offline. If the mirror lacks a window of the range, the exit code is 3. What is short at an end of the range is said on stderr, and is an error only with --fail-on-gaps. A file of doubles has not all digits: it is refused, unless it names the fingerprint of the candles that it was made from, because it was written with --fingerprint.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 1h --from 2024 --to 2025',
    '<%= config.bin %> <%= command.id %> all -i all --json',
    '<%= config.bin %> <%= command.id %> BTCUSDT-1h.csv.gz ETHUSDT-1h.parquet lake/',
  ]
  static override args = fingerprintArgs
  static override flags = fingerprintFlags

  protected override readonly interruptionAdvice: string = 'Nothing was written.'

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Fingerprint)
    const { runFingerprint } = await import('../cli/jobs/fingerprint.js')
    this.showData(await runFingerprint(args.symbol, flags, this.context(flags)))
  }
}
