import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { locationFlags, progressFlag } from '../../cli/flags.js'

export default class MirrorVerify extends BaseCommand {
  static override summary = 'Read every file of the mirror and name each that is not sound.'
  static override description =
    `Finds files that are cut, garbled, of another window or series, or left by a process that was killed; exit code 6 when there is one. A digit that became another digit is beyond it: klines verify compares intervals with one another.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --repair',
    '<%= config.bin %> <%= command.id %> --mirror DIR --json',
  ]
  static override flags = {
    ...locationFlags,
    progress: progressFlag,
    repair: Flags.boolean({ summary: 'Fetch corrupt files again.', env: 'KLINES_REPAIR' }),
  }

  protected override get interruptionAdvice(): string {
    return 'What --repair fetched by then stays.'
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(MirrorVerify)
    const { runMirrorCheck } = await import('../../cli/jobs/mirror-check.js')
    const report = await runMirrorCheck(flags, this.context(flags))
    this.showData(report)
    process.exitCode = report.exitCode
  }
}
