import { Command } from '@oclif/core/command'
import * as Errors from '@oclif/core/errors'
import type * as Interfaces from '@oclif/core/interfaces'
import type { KlinesEvent } from '../engine/events.js'
import type { ConfigDefaults } from './config.js'
import { ExitCode, reportError } from './error-report.js'
import { baseFlags } from './flags/run.js'
import type { Report } from './report.js'
import { GRACE_MS, interruptible } from './signals.js'
import { print, printJson, printNote } from './terminal/print.js'
import type { ProgressStyle } from './terminal/progress.js'
import type { ProgressWords } from './terminal/progress-text.js'

/** `failOnGaps` for `fail-on-gaps`. */
type OptionName<Flag extends string> = Flag extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<OptionName<Rest>>}`
  : Flag
type FlagsOf<F extends Interfaces.FlagInput> = Interfaces.InferredFlags<F & typeof baseFlags>

/** Who hears of a run. */
interface Events {
  readonly onEvent: (event: KlinesEvent) => void
}

/** The options of a library function that a command line says: its flags by their names in the library. */
type Options<Flags> = { -readonly [Name in keyof Flags & string as OptionName<Name>]: Flags[Name] } & Events & {
    /** Aborts when the user interrupts. */
    readonly signal: AbortSignal
  }

/** What a command has while it runs. */
export interface RunContext<F extends Interfaces.FlagInput, A extends Interfaces.ArgInput> {
  readonly args: Interfaces.InferredArgs<A>
  readonly flags: FlagsOf<F>
  readonly options: Options<FlagsOf<F>>
  /** The names of the flags on the command line; other values are defaults, from the environment or from the user's config file. */
  readonly given: ReadonlySet<string>
  readonly config: Interfaces.Config
  /** Reports a warning. Each text is printed once; with `--json` it becomes part of the object. */
  readonly warn: (text: string) => void
  readonly warnings: readonly string[]
  /** Shows the progress of `work`. */
  readonly during: <T>(words: ProgressWords, work: (events: Events) => Promise<T>, how?: ProgressStyle) => Promise<T>
  /** Prints the summary of a run: the JSON object, or the text unless `--quiet`. */
  readonly show: <R extends object>(report: Report<R>, result: R) => void
  /** Prints requested data: the JSON object, or the text also with `--quiet`. */
  readonly print: <R extends object>(report: Report<R>, result: R) => void
}

/** What a command is. */
interface Description<F extends Interfaces.FlagInput, A extends Interfaces.ArgInput> {
  readonly summary: string
  readonly description?: string
  readonly examples?: Command.Example[]
  readonly args?: A
  readonly flags?: F
  /** The advice after `Interrupted`. Default: that of a command that downloads. */
  readonly advice?: string
  /** How long the command may take to end after an interruption, ms. */
  readonly graceMs?: number
  /** Calls a function of the library, which it imports, and shows what it returns. */
  readonly run: (context: RunContext<F, A>) => Promise<void>
}

const CONTINUE = 'The mirror keeps what was downloaded; run the same command again to continue.'

/** Makes a command of its description. */
export function command<F extends Interfaces.FlagInput, A extends Interfaces.ArgInput>({
  advice = CONTINUE,
  graceMs = GRACE_MS,
  run,
  ...about
}: Description<F, A>): Command.Class {
  return class extends KlinesCommand {
    static override summary = about.summary
    static override description = about.description
    static override examples = about.examples ?? []
    static override args = about.args ?? {}
    static override flags = { ...about.flags, ...baseFlags }
    protected override readonly interruption = interruptible(advice, graceMs)

    async run(): Promise<void> {
      await run((await this.start()) as unknown as RunContext<F, A>)
    }
  }
}

type Values = Record<string, unknown>
type AnyContext = RunContext<Interfaces.FlagInput, Interfaces.ArgInput>

/**
 * The base of all commands. Signals abort an AbortSignal, warnings go to stderr or into the JSON object, and an error becomes
 * one message and an exit code. Data and results go to stdout, everything else to stderr.
 */
abstract class KlinesCommand extends Command {
  protected abstract readonly interruption: ReturnType<typeof interruptible>
  private readonly warnings: string[] = []
  private values: Values = {}
  private defaults: ConfigDefaults = new Map()

  /** Parses the command line, with the defaults of the config file. Throws `bad_config` and `bad_option`. */
  protected async start() {
    const { applyDefaults, findConfigPath, findDefaults, readSwitch } = await import('./config.js')
    // Read only after an error: an unknown value would then hide that error, so it is reported before the run.
    readSwitch('KLINES_DEBUG')
    const { ctor, config, warnings } = this
    this.defaults = await findDefaults(config, this.id, ctor.flags)
    const flags = applyDefaults(ctor.flags, this.defaults)
    const output = await this.parse({ ...selectingWithoutLock(ctor.args, flags, this.argv), strict: ctor.strict })
    const values: Values = output.flags
    this.values = values
    const given = new Set(output.raw.flatMap(token => (token.type === 'flag' ? [token.flag] : [])))
    settle(flags, values, given)
    const used = [...this.defaults.keys()].filter(name => !given.has(name))
    if (values.verbose && !values.json && used.length > 0)
      printNote(`Defaults from ${findConfigPath()}: ${used.join(', ')}`)
    const warn = (text: string) => this.note(text)
    const onEvent = (event: KlinesEvent) => event.type === 'warning' && warn(event.message)
    const options = { ...toOptions(values), signal: this.interruption.signal, onEvent }
    const printReport: AnyContext['print'] = (report, result) => {
      if (values.json) printJson({ ...report.json(result), warnings })
      else print(report.text(result, values))
    }
    const show: AnyContext['show'] = (report, result) =>
      values.json || !values.quiet ? printReport(report, result) : undefined
    const during: AnyContext['during'] = async (words, work, how = {}) => {
      const { showProgress } = await import('./terminal/progress.js')
      const style = { ...how, isSilent: Boolean(values.json || values.quiet), listsWindows: values.verbose === true }
      return showProgress(words, style, onProgress => {
        return work({ onEvent: event => (event.type === 'warning' ? warn(event.message) : onProgress(event)) })
      })
    }
    return {
      args: output.args,
      flags: values,
      options,
      given,
      config,
      warn,
      warnings,
      print: printReport,
      show,
      during,
    }
  }

  private note(warning: string): void {
    if (this.warnings.includes(warning)) return
    this.warnings.push(warning)
    if (!this.values.json && !this.values.quiet) printNote(`Note: ${warning}`)
  }

  /** Does not exit: output must be able to reach a slow reader. */
  protected override async catch(error: Error): Promise<void> {
    if (error instanceof Errors.CLIError && error.oclif.exit === 0) return
    const { describeOrigins, isOn, wantsJson } = await import('./config.js')
    const { id = '', examples, flags } = this.ctor
    const origins = describeOrigins(flags, this.defaults, this.argv)
    const context = { bin: this.config.bin, command: { id, examples }, debug: isOn('KLINES_DEBUG'), origins }
    const report = reportError(error, context)
    process.exitCode = report.exitCode
    if (this.values.json || wantsJson(this.argv, this.defaults)) printJson({ ...report.json, warnings: this.warnings })
    // A reader that has seen enough is no failure.
    else if (report.exitCode !== ExitCode.Done) printNote(report.text)
  }

  protected override async finally(): Promise<void> {
    this.interruption.dispose()
  }
}

/** Flags by the names of the options of the library. */
export function toOptions(flags: Values): Values {
  const toName = (flag: string) => flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  return Object.fromEntries(Object.entries(flags).map(([name, value]) => [toName(name), value]))
}

/** What a command parses: with --lock, nothing else has to say which candles. */
function selectingWithoutLock(args: Interfaces.ArgInput, flags: Interfaces.FlagInput, argv: readonly string[]) {
  const isNamed = argv.some(word => word === '--lock' || word.startsWith('--lock='))
  if (flags.lock === undefined || !(isNamed || process.env.KLINES_LOCK)) return { args, flags }
  const { symbol, ...others } = args
  const interval = { ...flags.interval, required: false } as (typeof flags)['interval']
  return { args: { ...others, symbol: { ...symbol, required: false } }, flags: { ...flags, interval } }
}

/** Flags that exclude each other. */
const ALTERNATIVES = Object.entries({ from: 'last', last: 'from', limit: 'tail', tail: 'limit' })

/**
 * oclif returns one text, with its commas, for a repeatable flag that comes from the environment: makes a list of it. Of two flags that
 * exclude each other, one on the command line (`given`) wins over a default of the other.
 */
function settle(flags: Interfaces.FlagInput, values: Values, given: ReadonlySet<string>): void {
  for (const [name, flag] of Object.entries(flags)) {
    const isList = flag.type === 'option' && flag.multiple && values[name] !== undefined
    if (isList) values[name] = [values[name]].flat()
  }
  for (const [one, other] of ALTERNATIVES) if (given.has(one) && !given.has(other)) values[other] = undefined
}
