import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { removalFlags } from '../../cli/flags/service.js'

export default class MirrorClear extends BaseCommand {
  static override summary = 'Remove the local mirror.'
  static override description =
    'Asks for confirmation. Removes only the files of the mirror; other files in its folder stay.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --mirror DIR --yes',
  ]
  static override flags = {
    ...removalFlags,
    // Earlier versions took it.
    force: Flags.boolean({ hidden: true }),
  }

  protected override readonly interruptionAdvice: string = 'Nothing was removed.'

  async run(): Promise<void> {
    const { flags } = await this.parse(MirrorClear)
    const { runMirrorClear } = await import('../../cli/jobs/mirror/upkeep.js')
    this.show(await runMirrorClear(flags, this.context(flags)))
  }
}
