import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { inGroup } from '../../cli/flags/group.js'
import { removalFlags } from '../../cli/flags/service.js'

export default class MirrorPrune extends BaseCommand {
  static override summary = 'Remove temporary files, windows that no list names, and stray files.'
  static override description =
    'Removes temporary files of processes that were killed. Asks before it removes windows that the lists of the service do not name, and files below api/klines that klines did not write.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --dry-run',
    '<%= config.bin %> <%= command.id %> --mirror DIR',
  ]
  static override flags = {
    ...removalFlags,
    ...inGroup('output', {
      'dry-run': Flags.boolean({ summary: 'Show what would be removed, without removing it.' }),
    }),
  }

  protected override readonly interruptionAdvice: string = 'Nothing was removed.'

  async run(): Promise<void> {
    const { flags } = await this.parse(MirrorPrune)
    const { runMirrorPrune } = await import('../../cli/jobs/mirror/upkeep.js')
    this.show(await runMirrorPrune(flags, this.context(flags)))
  }
}
