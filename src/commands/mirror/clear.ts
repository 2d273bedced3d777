import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { locationFlags } from '../../cli/flags.js'

export default class MirrorClear extends BaseCommand {
  static override summary = 'Remove all that the mirror holds.'
  static override description =
    `Asks first. Removes what is the mirror's, and nothing else that lies in its folder or outside of it.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --mirror DIR --force',
  ]
  static override flags = {
    ...locationFlags,
    force: Flags.boolean({ summary: 'Do not ask.', env: 'KLINES_FORCE' }),
  }

  protected override get interruptionAdvice(): string {
    return 'Nothing was removed.'
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(MirrorClear)
    const { runMirrorClear } = await import('../../cli/jobs/mirror-clear.js')
    this.show(await runMirrorClear(flags, this.context(flags)))
  }
}
