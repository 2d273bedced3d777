import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { locationFlags, progressFlag } from '../../cli/flags.js'

export default class MirrorVerify extends BaseCommand {
  static override summary = 'Read every file of the mirror and name the corrupt ones.'
  static override description =
    `Finds files that are truncated, garbled, of another window or series, or left by a process that was killed. Exit code 6 when there is one. It cannot find a changed digit: klines verify compares intervals.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --repair',
    '<%= config.bin %> <%= command.id %> --mirror DIR --json',
  ]
  static override flags = {
    ...locationFlags,
    progress: progressFlag,
    repair: Flags.boolean({ summary: 'Download corrupt files again.', env: 'KLINES_REPAIR' }),
  }

  protected override get interruptionAdvice(): string {
    return 'Files that --repair has downloaded stay.'
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(MirrorVerify)
    const { runMirrorCheck } = await import('../../cli/jobs/mirror-check.js')
    const report = await runMirrorCheck(flags, this.context(flags))
    this.showData(report)
    process.exitCode = report.exitCode
  }
}
