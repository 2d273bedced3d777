import { BaseCommand } from '../cli/base-command.js'
import { locationFlags, networkFlags } from '../cli/flags/service.js'

export default class Intervals extends BaseCommand {
  static override summary = 'List the candle lengths, and what is in the mirror.'
  static override description =
    'For each interval: the length of a window, the first date, the windows up to today, and how many are mirrored. Shows the lists of the mirror if the service cannot be reached.'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --json']
  static override flags = { ...locationFlags, ...networkFlags }

  async run(): Promise<void> {
    const { flags } = await this.parse(Intervals)
    const { runIntervals } = await import('../cli/jobs/lists.js')
    this.showData(await runIntervals(flags, this.context(flags)))
  }
}
