import { BaseCommand } from '../../cli/base-command.js'
import { intervalFilterFlags, rangeFlags, symbolFilterArgs } from '../../cli/flags/selection.js'
import { locationFlags } from '../../cli/flags/service.js'

export default class MirrorChanges extends BaseCommand {
  static override summary = 'List the cached candles that the service changed, with both values.'
  static override description =
    `A download that replaces a cached window appends what it changes to changes.jsonl in the mirror first: a line for each cell, and one for each candle that is added before the last cached one. A new version of a window that lacks candles is not stored, so it changes nothing. The newest changes come last; --from, --to and --last are about the candles. Of a file of 64 MB, the older half goes.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 1h --from 2025-10 --json',
  ]
  static override args = symbolFilterArgs
  static override flags = { ...intervalFilterFlags, ...rangeFlags, ...locationFlags }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MirrorChanges)
    const { runMirrorChanges } = await import('../../cli/jobs/mirror/status.js')
    this.showData(runMirrorChanges(args.symbol, flags, this.context(flags)))
  }
}
