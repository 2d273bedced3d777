import * as Args from '@oclif/core/args'
import { BaseCommand } from '../cli/base-command.js'
import { locationFlags, networkFlags } from '../cli/flags/service.js'

export default class StartDates extends BaseCommand {
  static override summary = 'List the windows of an interval, and what is in the mirror.'
  static override description =
    'Shows the windows up to today, and the lists of the mirror if the service cannot be reached.'
  static override examples = ['<%= config.bin %> <%= command.id %> 1h', '<%= config.bin %> <%= command.id %> 1M --json']
  static override args = {
    interval: Args.string({
      description: 'Candle length such as 1h; 1M is a month.',
      required: true,
      ignoreStdin: true,
    }),
  }
  static override flags = { ...locationFlags, ...networkFlags }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(StartDates)
    const { runStartDates } = await import('../cli/jobs/lists.js')
    this.showData(await runStartDates(args.interval, flags, this.context(flags)))
  }
}
