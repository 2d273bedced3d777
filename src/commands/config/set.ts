import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { localFlag } from '../../cli/flags/run.js'

export default class ConfigSet extends BaseCommand {
  static override summary = "Set a default in the user's config file, or in the folder's."
  static override description =
    "Other keys of the file stay as they are. Not every key can be set in a folder's file: see klines config --help."
  static override examples = [
    '<%= config.bin %> <%= command.id %> mirror /data/klines',
    '<%= config.bin %> <%= command.id %> interval 1h,1d --local',
    '<%= config.bin %> <%= command.id %> download.concurrency 8',
    '<%= config.bin %> <%= command.id %> "mirror verify.repair" true',
  ]
  static override args = {
    key: Args.string({ description: 'Long name of a flag, or COMMAND.FLAG for one command.', required: true }),
    value: Args.string({ description: 'Its value; true or false; a list joined by commas.', required: true }),
  }
  static override flags = { local: localFlag }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigSet)
    const { runConfigSet } = await import('../../cli/jobs/config.js')
    this.show(await runConfigSet(this.config, args, flags.local, this.context(flags)))
  }
}
