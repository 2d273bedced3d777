import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { localFlag } from '../../cli/flags/run.js'

export default class ConfigUnset extends BaseCommand {
  static override summary = "Remove a key from the user's config file, or from the folder's."
  static override description =
    'Any key can be removed, also one that is not valid, and the whole section of a command.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> mirror',
    '<%= config.bin %> <%= command.id %> download.concurrency --local',
    '<%= config.bin %> <%= command.id %> "mirror verify"',
  ]
  static override args = {
    key: Args.string({ description: 'Key of the file, or COMMAND.FLAG.', required: true }),
  }
  static override flags = { local: localFlag }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigUnset)
    this.context(flags)
    const { runConfigUnset } = await import('../../cli/jobs/config.js')
    this.show(runConfigUnset(args.key, flags.local))
  }
}
