import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { inGroup } from '../../cli/flags/group.js'
import { locationFlags } from '../../cli/flags/service.js'

export default class MirrorCommand extends BaseCommand {
  static override summary = 'Show what is in the local mirror, and which other mirrors there are.'
  static override description =
    'Shows the windows, time range and size of each series, and a line for each other mirror in the cache folder. To remove a series, remove its folder, api/klines/INTERVAL/SYMBOL in that of the mirror; to remove a mirror, remove its folder.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --mirror DIR --json',
    'ls "$(<%= config.bin %> <%= command.id %> --path)"',
  ]
  static override flags = {
    ...locationFlags,
    ...inGroup('output', {
      path: Flags.boolean({ summary: 'Print the folder of the mirror alone, which may be missing.' }),
    }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(MirrorCommand)
    const { runMirror } = await import('../../cli/jobs/mirror.js')
    this.showData(await runMirror(flags, this.context(flags)))
  }
}
