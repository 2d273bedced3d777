import { BaseCommand } from '../../cli/base-command.js'
import { localFlag } from '../../cli/flags/run.js'

export default class ConfigPath extends BaseCommand {
  static override summary = "Print the path of the user's config file, or of the folder's."
  static override description = 'The file may not exist.'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --local']
  static override flags = { local: localFlag }

  async run(): Promise<void> {
    const { flags } = await this.parse(ConfigPath)
    this.context(flags)
    const { runConfigPath } = await import('../../cli/jobs/config.js')
    this.showData(runConfigPath(flags.local))
  }
}
