import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'

export default class ConfigUnset extends BaseCommand {
  static override summary = 'Remove a key from your config file.'
  static override description = 'Any key can be removed, also one that is not valid.'
  static override examples = ['<%= config.bin %> <%= command.id %> mirror']
  static override args = {
    key: Args.string({ description: 'Key of the file.', required: true }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigUnset)
    this.context(flags)
    const { runConfigUnset } = await import('../../cli/jobs/config.js')
    this.show(runConfigUnset(args.key))
  }
}
