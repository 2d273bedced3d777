import { BaseCommand } from '../../cli/base-command.js'
import { describeFolderKeys } from '../../cli/config/key-groups.js'

export default class Config extends BaseCommand {
  static override summary = 'Show the defaults of flags, and where each comes from.'
  static override description =
    `A config file is a JSON object of flags by their long names. The name of a command holds flags for that command alone:

  { "interval": ["1h", "1d"], "verify": { "from": "2024" } }

There are two: klines.config.json in the working folder (folders above it are not searched), and one for the user (klines config path). The order is: command line, environment variable, the folder's file, the user's file, default. Within a file, the section of a command wins over the other keys. --no-NAME turns off a flag that a file turns on, such as --no-quiet.

force, yes, prune, vacuum, output and data cannot be set. base-url of users update, streams tokens and openapi, and format of verify, stats and streams tokens, are set in the section of the command only. The commands of klines config take no defaults from files.

A folder's file can come with a project that someone else wrote, so it may set these keys only:

${describeFolderKeys()
  .map(line => `  ${line}`)
  .join('\n')}

base-url is the address of candles, not of the greeting API. mirror is a folder inside the folder of the file, with no link on the way. Every run that uses one of them says so on stderr, also with --quiet. mirror clear and mirror prune do not let base-url of a folder's file choose the mirror.`
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
