import { intervalsReport } from '../cli/catalogue-report.js'
import { placeFlags } from '../cli/flags.js'
import { KlinesCommand } from '../cli/klines-command.js'
import { runListJob } from '../cli/list-job.js'

export default class Intervals extends KlinesCommand {
  static override description = `The candle lengths: how they are cut into windows, since when, and what is mirrored.

Asks the service for its lists; when it cannot be reached, the mirror.`
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --json']
  static override flags = placeFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(Intervals)
    const { json, text } = await runListJob(flags, this.context(flags), intervalsReport)
    this.showData(json, text)
  }
}
