import { placeFlags } from '../../cli/flags.js'
import { KlinesCommand } from '../../cli/klines-command.js'
import { mirrorReport } from '../../cli/mirror-report.js'

export default class MirrorStatus extends KlinesCommand {
  static override description = `What the mirror holds: windows, candles from when to when, size.

Looks at the files' sizes and reads none of them.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --mirror DIR --json',
  ]
  static override flags = placeFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(MirrorStatus)
    this.context(flags)
    const { json, text } = mirrorReport(flags)
    this.showData(json, text)
  }
}
