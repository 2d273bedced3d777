import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { inGroup } from '../cli/flags/group.js'
import { locationFlags, networkFlags } from '../cli/flags/service.js'

export default class Show extends BaseCommand {
  static override summary = 'Show one candle, with all that the mirror knows about it.'
  static override description =
    `Any time inside the candle finds it. Shows its twelve cells, what the cached candles of each finer interval add up to, gaps beside it, its window, and when that was downloaded and from where. Sends no request without --check.
Exit codes: 0 there is a candle and all that was compared is equal, 3 its window is not cached, may lack it or is corrupt, 4 there is no candle, 6 finer candles add up to another one, or with --check the service has another one.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> BTCUSDT 1h 2025-10-10T21:00',
    '<%= config.bin %> <%= command.id %> btc/usdt 1d yesterday --check',
    '<%= config.bin %> <%= command.id %> BTCUSDT 1h 1760130000 --mirror DIR --json',
  ]
  static override args = {
    symbol: Args.string({
      description: 'A trading pair such as BTCUSDT or btc/usdt.',
      required: true,
      ignoreStdin: true,
    }),
    interval: Args.string({
      description: 'Candle length such as 1h; 1M is a month.',
      required: true,
      ignoreStdin: true,
    }),
    time: Args.string({
      description: 'A time in the candle, in the forms of --from of klines download: UTC unless it has an offset.',
      required: true,
      ignoreStdin: true,
    }),
  }
  static override flags = {
    ...locationFlags,
    ...inGroup('network', {
      check: Flags.boolean({ summary: 'Download the window again, store nothing, and show what differs.' }),
    }),
    ...networkFlags,
  }

  protected override readonly interruptionAdvice: string = 'Nothing was stored.'

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Show)
    const { runShow } = await import('../cli/jobs/show.js')
    this.showData(await runShow(args, flags, this.context(flags)))
  }
}
