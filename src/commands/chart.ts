import { BaseCommand } from '../cli/base-command.js'
import { chartFlags } from '../cli/flags/chart.js'
import { symbolArgs } from '../cli/flags/selection.js'

export default class Chart extends BaseCommand {
  static override summary = 'Draw candles in the terminal, or as an SVG picture with -o.'
  static override description =
    `Without --from and --last, the newest candles that fit the width are drawn, also when they are old. With them, all candles of the range are: if they do not fit, they are resampled exactly to the shortest interval that does, and the title says so.

Missing and open windows of these candles are downloaded first, as klines download does it. If the service cannot be reached, what is cached is drawn, with a note and exit code 0; if nothing is, the exit code is 5. With --offline, a window of the range that is not in the mirror is an error, exit code 3.

Missing candles keep their place. Without colours (NO_COLOR, or not a terminal), rising candles are hollow and falling ones filled.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 1d',
    '<%= config.bin %> <%= command.id %> BTCUSDT ETHUSDT -i 1h --last 7d --height 16',
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 1d --from 2017 --log',
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 1w --base-url sample --ascii --width 60',
    '<%= config.bin %> <%= command.id %> BTCUSDT -i 1d --last 365d -o btc.svg --theme dark',
  ]
  static override args = symbolArgs
  static override flags = chartFlags

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Chart)
    const { runChart } = await import('../cli/jobs/chart.js')
    const report = await runChart(args.symbol, flags, this.context(flags))
    if (report) this.show(report)
  }
}
