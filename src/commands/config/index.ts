import { BaseCommand } from '../../cli/base-command.js'

export default class Config extends BaseCommand {
  static override summary = 'Show the defaults of flags, and where each comes from.'
  static override description =
    `Your config file, klines.config.json in the config folder of the platform, is a JSON object of flags by their long names:

  { "interval": ["1h", "1d"], "mirror": "/data/klines" }

The order is: command line, environment variable, your file, default. --no-NAME turns off a flag that the file turns on, such as --no-quiet.

force, prune, output, lock, series and data cannot be set. A flag that has a variable of its own, such as base-url of users update, cannot either: set the variable. The commands of klines config take no defaults from the file.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json',
    '<%= config.bin %> <%= command.id %> set interval 1h,1d',
  ]

  async run(): Promise<void> {
    const { flags } = await this.parse(Config)
    this.context(flags)
    const { runConfigList } = await import('../../cli/jobs/config.js')
    this.showData(await runConfigList(this.config))
  }
}
