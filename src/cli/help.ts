import type { Command, Interfaces } from '@oclif/core'
import * as Errors from '@oclif/core/errors'
import { CommandHelp, Help } from '@oclif/core/help'
import { unknownCommand } from './command-not-found.js'
import { formatUsage } from './usage.js'

/** The groups of flags, in the order in which the help shows them. Flags without a group come first. */
const GROUPS = ['what', 'range', 'output', 'network', 'appearance']

/** oclif breaks lines at spaces and trims them; this stands for a space that it leaves alone. */
const SPACE = '\uE000'

/** oclif shows the help itself, so `-h` is no flag of a command. */
const HELP_FLAG = {
  ...{ name: 'help', char: 'h', type: 'boolean', allowNo: false },
  ...{ helpGroup: 'appearance', summary: 'Show help.' },
} as Command.Flag.Any

/** The help of a command: flags in groups, each with its default and its environment variable behind the sentence. */
class FlagHelp extends CommandHelp {
  override generate(): string {
    return super.generate().replaceAll(SPACE, ' ')
  }

  protected override defaultUsage(): string {
    return formatUsage(this.command.id, this.command.args, this.command.flags)
  }

  protected override args(args: Command.Arg.Any[]): [string, string | undefined][] | undefined {
    const plain = args.map(({ options, default: initial, ...arg }) => {
      return { ...arg, description: joinWords(arg.description, ...describeValues({ options, default: initial })) }
    })
    return super.args(plain)
  }

  /** The summary stands above the usage already. */
  protected override description(): string | undefined {
    const { summary, description = '' } = this.command
    const text = summary ? description : description.split('\n').slice(1).join('\n').trim()
    return text ? this.wrap(text) : undefined
  }

  protected override groupFlags(flags: Command.Flag.Any[]) {
    const { mainFlags, flagGroups } = super.groupFlags([...flags, HELP_FLAG])
    const groups = GROUPS.flatMap(name => (flagGroups[name] ? [[name, flagGroups[name]]] : []))
    return { mainFlags, flagGroups: Object.fromEntries(groups) }
  }

  override section(header: string, body: Parameters<CommandHelp['section']>[1]): string {
    return super.section(header.replace(/ FLAGS$/, ''), body)
  }

  /** `--port=N  (required) Port to listen on. {csv|json} [default: 8787] [env: KLINES_PORT]` */
  protected override flags(flags: Command.Flag.Any[]): [string, string | undefined][] | undefined {
    if (flags.length === 0) return undefined
    return flags.map(flag => {
      const values = flag.type === 'option' ? describeValues(flag) : []
      const variable = flag.env && `[env:${SPACE}${flag.env}]`
      const text = joinWords(flag.required && '(required)', flag.summary, ...values, variable)
      return [this.flagHelpLabel(flag).replace(/^ +/, indent => SPACE.repeat(indent.length)), text]
    })
  }
}

/** `{greeting|klines} [default: greeting]` */
function describeValues({ options, default: initial }: Pick<Command.Arg.Any, 'options' | 'default'>) {
  return [options && `{${options.join('|')}}`, initial !== undefined && `[default:${SPACE}${initial}]`]
}

function joinWords(...words: (string | false | undefined)[]): string {
  return words.filter(Boolean).join(' ')
}

/** The help of the program and of a command. */
export class KlinesHelp extends Help {
  protected override CommandHelpClass: typeof FlagHelp = FlagHelp

  constructor(config: Interfaces.Config, options: Partial<Interfaces.HelpOptions> = {}) {
    super(config, { ...options, flagSortOrder: 'none' })
  }

  override formatRoot(): string {
    const { bin, pjson, userAgent } = this.config
    const examples = [
      `$ ${bin} download BTCUSDT -i 1h --last 90d -o btcusdt.csv`,
      `$ ${bin} download BTCUSDT -i 1d --base-url sample -f csv  # works offline`,
    ]
    const flags: [string, string][] = [
      ['-h, --help', `Show help, also for a command: ${bin} download -h.`],
      ['-V, --version', 'Show the version.'],
    ]
    return [
      pjson.oclif.description ?? '',
      this.section('VERSION', userAgent),
      this.section('USAGE', `$ ${bin} COMMAND [FLAGS]`),
      this.section('EXAMPLES', examples.join('\n')),
      this.section('FLAGS', flags),
    ].join('\n\n')
  }

  override async showHelp(argv: string[]): Promise<void> {
    try {
      await super.showHelp(argv)
    } catch (error) {
      const [, id] = /^Command (.*) not found\.$/.exec((error as Error).message) ?? []
      throw error instanceof Errors.CLIError && id ? unknownCommand(this.config, id.split(':')) : error
    }
  }
}
