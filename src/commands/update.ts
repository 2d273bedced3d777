import { BaseCommand } from '../cli/base-command.js'
import { updateFlags } from '../cli/flags/download.js'

export default class Update extends BaseCommand {
  static override summary = 'Make the mirror current: one command for cron.'
  static override description =
    `Downloads what every series of the mirror lacks or can still change, from its first cached window to now.

Files and lakes are made current by the klines export or klines download that made them.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --base-url binance --json',
    '<%= config.bin %> <%= command.id %> --dry-run',
  ]
  static override flags = updateFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(Update)
    const { runUpdate } = await import('../cli/jobs/update.js')
    this.show(await runUpdate(flags, this.context(flags)))
  }
}
