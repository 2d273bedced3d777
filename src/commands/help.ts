import * as Args from '@oclif/core/args'
import { Command } from '@oclif/core/command'
import { KlinesHelp } from '../cli/help.js'

export default class HelpCommand extends Command {
  static override summary = 'Show help for a command.'
  static override args = { command: Args.string({ description: 'The command; without one, all are listed.' }) }
  static override strict = false

  async run(): Promise<void> {
    const { argv } = await this.parse(HelpCommand)
    await new KlinesHelp(this.config).showHelp(argv.map(String))
  }
}
