import { BaseCommand } from '../cli/base-command.js'
import { locationFlags } from '../cli/flags.js'

export default class Intervals extends BaseCommand {
  static override description = `The candle lengths: how they are cut into windows, since when, and what is mirrored.

Asks the service for its lists; when it cannot be reached, the mirror.`
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --json']
  static override flags = locationFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(Intervals)
    const { runIntervals } = await import('../cli/jobs/lists.js')
    this.showData(await runIntervals(flags, this.context(flags)))
  }
}
