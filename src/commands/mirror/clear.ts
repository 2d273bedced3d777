import * as Flags from '@oclif/core/flags'
import { placeFlags } from '../../cli/flags.js'
import { KlinesCommand } from '../../cli/klines-command.js'
import { clearJob } from '../../cli/mirror-care.js'

export default class MirrorClear extends KlinesCommand {
  static override summary = 'Remove all that the mirror holds.'
  static override description =
    `Asks first. Removes what is the mirror's, and nothing else that lies in its folder or outside of it.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --mirror DIR --force',
  ]
  static override flags = {
    ...placeFlags,
    force: Flags.boolean({ summary: 'Do not ask.', env: 'KLINES_FORCE' }),
  }

  protected override get interruptionAdvice(): string {
    return 'Nothing was removed.'
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(MirrorClear)
    const { json, text } = await clearJob(flags, this.context(flags))
    this.show(json, text)
  }
}
