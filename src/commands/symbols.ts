import { symbolsReport } from '../cli/catalogue-report.js'
import { placeFlags } from '../cli/flags.js'
import { KlinesCommand } from '../cli/klines-command.js'
import { runListJob } from '../cli/list-job.js'

export default class Symbols extends KlinesCommand {
  static override description = `The trading pairs, and what the mirror holds of each.

Asks the service for its lists; when it cannot be reached, the mirror.`
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --json']
  static override flags = placeFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(Symbols)
    const { json, text } = await runListJob(flags, this.context(flags), symbolsReport, [])
    this.showData(json, text)
  }
}
