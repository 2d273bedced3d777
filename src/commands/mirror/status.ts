import { BaseCommand } from '../../cli/base-command.js'
import { locationFlags } from '../../cli/flags.js'

export default class MirrorStatus extends BaseCommand {
  static override description = `What the mirror holds: windows, candles from when to when, size.

Looks at the files' sizes and reads none of them.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --mirror DIR --json',
  ]
  static override flags = locationFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(MirrorStatus)
    const { runMirrorStatus } = await import('../../cli/jobs/mirror-status.js')
    this.showData(runMirrorStatus(flags, this.context(flags)))
  }
}
