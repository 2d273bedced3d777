import { BaseCommand } from '../../cli/base-command.js'
import { locationFlags } from '../../cli/flags/service.js'

export default class MirrorList extends BaseCommand {
  static override summary = 'List the local mirrors, and which one is the default.'
  static override description =
    'Lists the mirrors in the cache folder, and the one that --mirror, its variable or a config file names.'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --json']
  static override flags = locationFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(MirrorList)
    this.context(flags)
    const { runMirrorList } = await import('../../cli/jobs/mirror/status.js')
    this.showData(runMirrorList(flags))
  }
}
