import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'

export default class ConfigSet extends BaseCommand {
  static override summary = 'Set a default in your config file.'
  static override description = 'Other keys of the file stay as they are.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> mirror /data/klines',
    '<%= config.bin %> <%= command.id %> interval 1h,1d',
  ]
  static override args = {
    key: Args.string({ description: 'Long name of a flag.', required: true }),
    value: Args.string({ description: 'Its value; true or false; a list joined by commas.', required: true }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigSet)
    const { runConfigSet } = await import('../../cli/jobs/config.js')
    this.show(await runConfigSet(this.config, args, this.context(flags)))
  }
}
