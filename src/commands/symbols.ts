import { BaseCommand } from '../cli/base-command.js'
import { locationFlags, networkFlags } from '../cli/flags/service.js'

export default class Symbols extends BaseCommand {
  static override summary = 'List the trading pairs, and what is in the mirror.'
  static override description = 'Shows the lists of the mirror if the service cannot be reached.'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --json']
  static override flags = { ...locationFlags, ...networkFlags }

  async run(): Promise<void> {
    const { flags } = await this.parse(Symbols)
    const { runSymbols } = await import('../cli/jobs/lists.js')
    this.showData(await runSymbols(flags, this.context(flags)))
  }
}
