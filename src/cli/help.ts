import { stripVTControlCharacters } from 'node:util'
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
  name: 'help',
  char: 'h',
  type: 'boolean',
  allowNo: false,
  helpGroup: 'appearance',
  summary: 'Show help.',
} as Command.Flag.Any

/** The help of a command: flags in groups, each with its environment variable at the end. */
class FlagHelp extends CommandHelp {
  override generate(): string {
    return super.generate().replaceAll(SPACE, ' ')
  }

  protected override defaultUsage(): string {
    return formatUsage(this.command.id, this.command.args, this.command.flags)
  }

  protected override args(args: Command.Arg.Any[]): [string, string | undefined][] | undefined {
    const description = (arg: Command.Arg.Any) => joinWords(arg.description ?? '', describeValues(arg))
    return super.args(
      args.map(({ options, default: initial, ...arg }) => ({
        ...arg,
        description: description({ ...arg, options, default: initial }),
      })),
    )
  }

  /** The summary stands above the usage already. */
  protected override description(): string | undefined {
    const { summary, description = '' } = this.command
    const text = summary ? description : description.split('\n').slice(1).join('\n').trim()
    return text ? this.wrap(text) : undefined
  }

  protected override groupFlags(flags: Command.Flag.Any[]) {
    const { mainFlags, flagGroups } = super.groupFlags([...flags, HELP_FLAG])
    const order = (name: string) => (GROUPS.includes(name) ? GROUPS.indexOf(name) : GROUPS.length)
    const groups = Object.entries(flagGroups).sort(([a], [b]) => order(a) - order(b))
    return { mainFlags, flagGroups: Object.fromEntries(groups) }
  }

  override section(header: string, body: Parameters<CommandHelp['section']>[1]): string {
    return super.section(header.replace(/ FLAGS$/, ''), body)
  }

  /** Every group has the same width, so that all texts start in one column. */
  protected override flags(flags: Command.Flag.Any[]): [string, string | undefined][] | undefined {
    if (flags.length === 0) return undefined
    const all = [...Object.entries(this.command.flags).map(([name, flag]) => ({ ...flag, name })), HELP_FLAG]
    const width = Math.max(...all.filter(flag => !flag.hidden).map(flag => widthOf(this.flagHelpLabel(flag))))
    return flags.map(flag => {
      const label = this.flagHelpLabel(flag)
      const padding = SPACE.repeat(width - widthOf(label))
      return [label.replace(/^ +/, indent => SPACE.repeat(indent.length)) + padding, describeFlag(flag)]
    })
  }
}

function widthOf(label: string): number {
  return stripVTControlCharacters(label).length
}

/** `(required) Format of the output. {csv|json} [default: csv] [env: KLINES_FORMAT]` */
function describeFlag(flag: Command.Flag.Any): string {
  const variable = flag.env ? `[env:${SPACE}${flag.env}]` : ''
  const text = flag.summary ?? flag.description ?? ''
  return joinWords(
    flag.required ? '(required)' : '',
    text,
    flag.type === 'option' ? describeValues(flag) : '',
    variable,
  )
}

/** `{greeting|klines} [default: greeting]` */
function describeValues({ options, default: initial }: Pick<Command.Arg.Any, 'options' | 'default'>): string {
  return joinWords(options ? `{${options.join('|')}}` : '', initial === undefined ? '' : `[default:${SPACE}${initial}]`)
}

function joinWords(...words: string[]): string {
  return words.filter(word => word !== '').join(' ')
}

/** The help of the program and of a command. */
export class KlinesHelp extends Help {
  protected override CommandHelpClass: typeof FlagHelp = FlagHelp

  constructor(config: Interfaces.Config, options: Partial<Interfaces.HelpOptions> = {}) {
    super(config, { ...options, flagSortOrder: 'none' })
  }

  override formatRoot(): string {
    const { bin, pjson, userAgent } = this.config
    const flags: [string, string][] = [
      ['-h, --help', `Show help, also for a command: ${bin} download -h.`],
      ['-V, --version', 'Show the version.'],
    ]
    return [
      pjson.oclif.description ?? '',
      this.section('VERSION', userAgent),
      this.section('USAGE', `$ ${bin} COMMAND [FLAGS]`),
      this.section(
        'EXAMPLES',
        [
          `$ ${bin} download BTCUSDT -i 1h --last 90d -o btcusdt.csv`,
          `$ ${bin} download BTCUSDT -i 1d --base-url sample -f csv  # works offline`,
        ].join('\n'),
      ),
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
