import { BaseCommand } from '../../cli/base-command.js'

export default class Config extends BaseCommand {
  static override summary = 'Show the defaults of flags, and where each comes from.'
  static override description =
    `A config file is a JSON object of flags by their long names. The name of a command holds flags for that command alone:

  { "interval": ["1h", "1d"], "mirror verify": { "repair": true } }

There are two: klines.config.json in the working folder (folders above it are not searched), and one for the user (klines config path). The order is: command line, environment variable, the folder's file, the user's file, default. Within a file, the section of a command wins over the other keys. --no-NAME turns off a flag that a file turns on, such as --no-quiet.

force, yes, output and data cannot be set. base-url of users update, streams tokens and openapi, and format of verify, stats and streams tokens, are set in the section of the command only. The commands of klines config take no defaults from files.

A folder's file can come with a project that someone else wrote. It can choose the service (base-url), the folder of the mirror and the address that klines serve listens on: run klines config in a folder that you do not trust.`
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
