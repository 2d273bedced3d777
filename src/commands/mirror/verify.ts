import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { inGroup } from '../../cli/flags/group.js'
import { locationFlags, networkFlags } from '../../cli/flags/service.js'

export default class MirrorVerify extends BaseCommand {
  static override summary = 'Check every file of the local mirror for corruption.'
  static override description =
    `Finds files that are truncated, invalid, in the wrong place or left behind by a killed process; the exit code is then 6. It cannot find a digit that became another digit: klines verify does.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --repair',
    '<%= config.bin %> <%= command.id %> --mirror DIR --json',
  ]
  static override flags = {
    ...locationFlags,
    ...inGroup('network', { repair: Flags.boolean({ summary: 'Download corrupt files again.' }) }),
    ...networkFlags,
  }

  protected override readonly interruptionAdvice: string = 'Files that were downloaded again stay.'

  async run(): Promise<void> {
    const { flags } = await this.parse(MirrorVerify)
    const { runMirrorCheck } = await import('../../cli/jobs/mirror/upkeep.js')
    this.showData(await runMirrorCheck(flags, this.context(flags)))
  }
}
