import { BaseCommand } from '../cli/base-command.js'
import { mirrorSeriesFlags, rangeFlags, symbolArgs } from '../cli/flags/selection.js'
import { locationFlags } from '../cli/flags/service.js'

export default class Stats extends BaseCommand {
  static override summary = 'Show statistics of series: range, prices, totals, largest gap.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> BTCUSDT -i all',
    '<%= config.bin %> <%= command.id %> all -i 1d --last 1y -f csv',
  ]
  static override args = symbolArgs
  static override flags = { ...mirrorSeriesFlags, ...rangeFlags, ...locationFlags }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Stats)
    const { runStats } = await import('../cli/jobs/stats.js')
    this.showData(await runStats(args.symbol, flags, this.context(flags)))
  }
}
