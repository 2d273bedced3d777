import { BaseCommand } from '../cli/base-command.js'
import { locationFlags } from '../cli/flags.js'

export default class Symbols extends BaseCommand {
  static override description = `The trading pairs, and what the mirror holds of each.

Asks the service for its lists; when it cannot be reached, the mirror.`
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --json']
  static override flags = locationFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(Symbols)
    const { runSymbols } = await import('../cli/jobs/lists.js')
    this.showData(await runSymbols(flags, this.context(flags)))
  }
}
