import { BaseCommand } from '../../cli/base-command.js'
import { locationFlags } from '../../cli/flags/service.js'

export default class MirrorStatus extends BaseCommand {
  static override summary = 'Show what is in the local mirror: windows, time ranges and size.'
  static override description = 'Reads no window; use klines mirror verify to check the files.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --mirror DIR --json',
  ]
  static override flags = locationFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(MirrorStatus)
    const { runMirrorStatus } = await import('../../cli/jobs/mirror/status.js')
    this.showData(runMirrorStatus(flags, this.context(flags)))
  }
}
