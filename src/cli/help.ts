import * as Args from '@oclif/core/args'
import { Command } from '@oclif/core/command'
import { CommandHelp, Help } from '@oclif/core/help'
import { formatUsage, unknownCommand } from './error-report.js'

/** The help of a command, with the default and the environment variable of a flag behind its sentence. */
class FlagHelp extends CommandHelp {
  protected override defaultUsage(): string {
    return formatUsage(this.command.id, this.command.args, this.command.flags)
  }

  /** The summary stands above the usage already. */
  protected override description(): string | undefined {
    return this.command.description && this.wrap(this.command.description)
  }

  /** `--port=N  (required) Port to listen on. {csv|json} [default: 8787] [env: KLINES_PORT]` */
  protected override flags(flags: Command.Flag.Any[]): [string, string | undefined][] | undefined {
    // oclif trims a section whose first flag has no letter.
    const ordered = flags.toSorted((a, b) => Number(!a.char) - Number(!b.char))
    const plain = ordered.map(({ env, required, ...flag }) => {
      const { options, default: initial } = flag as Command.Arg.Any
      const values = [options && `{${options.join('|')}}`, initial !== undefined && `[default: ${initial}]`]
      const words = [required && '(required)', flag.summary, ...(flag.type === 'option' ? values : [])]
      const summary = [...words, env && `[env: ${env}]`].filter(Boolean).join(' ')
      return { ...flag, summary, options: undefined, default: undefined } as unknown as Command.Flag.Any
    })
    return super.flags(plain)
  }
}

export class KlinesHelp extends Help {
  protected override CommandHelpClass: typeof FlagHelp = FlagHelp

  override async showHelp(argv: string[]): Promise<void> {
    const words = argv.filter(word => !word.startsWith('-'))
    const [name] = words
    if (name && !this.config.findCommand(name) && !this.config.findTopic(name)) throw unknownCommand(this.config, words)
    await super.showHelp(argv)
  }
}

export class HelpCommand extends Command {
  static override summary = 'Show help for a command.'
  static override args = { command: Args.string({ description: 'The command; without one, all are listed.' }) }
  static override strict = false

  async run(): Promise<void> {
    await new KlinesHelp(this.config, this.config.pjson.oclif.helpOptions).showHelp(this.argv)
  }
}
