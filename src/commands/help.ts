import * as Args from '@oclif/core/args'
import { Command } from '@oclif/core/command'
import { KlinesHelp } from '../cli/help.js'
import { isHelpTopic } from '../cli/help-topics.js'

export default class HelpCommand extends Command {
  static override summary = 'Show help for a command or a topic.'
  static override args = { command: Args.string({ description: 'The command or topic; without one, all are listed.' }) }
  static override strict = false

  async run(): Promise<void> {
    const { argv } = await this.parse(HelpCommand)
    const words = argv.map(String)
    const help = new KlinesHelp(this.config)
    if (words.length === 1 && isHelpTopic(words[0])) help.showExplanation(words[0])
    else await help.showHelp(words)
  }
}
