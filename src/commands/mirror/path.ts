import { BaseCommand } from '../../cli/base-command.js'
import { locationFlags } from '../../cli/flags/service.js'

export default class MirrorPath extends BaseCommand {
  static override summary = 'Print the folder of the local mirror.'
  static override examples = ['<%= config.bin %> <%= command.id %>', 'ls "$(<%= config.bin %> <%= command.id %>)"']
  static override flags = locationFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(MirrorPath)
    this.context(flags)
    const { runMirrorPath } = await import('../../cli/jobs/mirror/status.js')
    this.showData(runMirrorPath(flags))
  }
}
