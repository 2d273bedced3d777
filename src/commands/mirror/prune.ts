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
    yes: Flags.boolean({ summary: 'Remove cached windows that no list names without asking.', env: 'KLINES_YES' }),
    'dry-run': Flags.boolean({ summary: 'Say what would be removed, and remove nothing.', env: 'KLINES_DRY_RUN' }),
  }

  protected override get interruptionAdvice(): string {
    return 'Nothing was removed.'
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(MirrorPrune)
    const { runMirrorPrune } = await import('../../cli/jobs/mirror-prune.js')
    this.show(await runMirrorPrune(flags, this.context(flags)))
  }
}
