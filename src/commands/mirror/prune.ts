import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { locationFlags } from '../../cli/flags.js'

export default class MirrorPrune extends BaseCommand {
  static override summary = 'Remove leftovers of killed processes and files that no list names.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --dry-run',
    '<%= config.bin %> <%= command.id %> --mirror DIR',
  ]
  static override flags = {
    ...locationFlags,
    'dry-run': Flags.boolean({ summary: 'Say what would be removed, and remove nothing.', env: 'KLINES_DRY_RUN' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(MirrorPrune)
    this.context(flags)
    const { runMirrorPrune } = await import('../../cli/jobs/mirror-prune.js')
    this.show(runMirrorPrune(flags))
  }
}
