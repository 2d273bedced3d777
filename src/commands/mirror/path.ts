import { placeFlags } from '../../cli/flags.js'
import { KlinesCommand } from '../../cli/klines-command.js'
import { mirrorPath } from '../../cli/mirror-report.js'

export default class MirrorPath extends KlinesCommand {
  static override description = 'Print the folder of the mirror that the other commands would use.'
  static override examples = ['<%= config.bin %> <%= command.id %>', 'ls "$(<%= config.bin %> <%= command.id %>)"']
  static override flags = placeFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(MirrorPath)
    this.context(flags)
    const path = mirrorPath(flags)
    this.showData({ mirror: path }, () => path)
  }
}
