import { Command } from '@oclif/core/command'
import * as Errors from '@oclif/core/errors'
import type * as Interfaces from '@oclif/core/interfaces'
import type { KlinesEvent } from '../engine/events.js'
import type { ConfigDefaults } from './config/defaults.js'
import { findConfigPath } from './config/file.js'
import { ExitCode, isDebug, reportError, wantsJson } from './error-report.js'
import { baseFlags } from './flags/run.js'
import type { Report } from './report.js'
import { dropAlternatives } from './resolve-flags.js'
import { GRACE_MS, interruptible } from './signals.js'
import { readSwitch } from './switch-variable.js'
import { print, printJson, printNote } from './terminal/print.js'
import type { ProgressStyle } from './terminal/progress.js'
import type { ProgressWords } from './terminal/progress-text.js'

/** `failOnGaps` for `fail-on-gaps`. */
type OptionName<Flag extends string> = Flag extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<OptionName<Rest>>}`
  : Flag
type FlagsOf<F extends Interfaces.FlagInput> = Interfaces.InferredFlags<F & typeof baseFlags>

/** The options of a library function that a command line says: its flags by their names in the library. */
type Options<Flags> = { -readonly [Name in keyof Flags & string as OptionName<Name>]: Flags[Name] } & Events & {
    /** Aborts when the user interrupts. */
    readonly signal: AbortSignal
  }

/** Who hears of a run. */
interface Events {
  readonly onEvent: (event: KlinesEvent) => void
}

/** `endsEarly`: with the last item, because data for the terminal follows. `isShort`: show only a bar, at a terminal. */
type ProgressOptions = Pick<ProgressStyle, 'endsEarly' | 'isShort'>

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
  readonly during: <T>(words: ProgressWords, work: (events: Events) => Promise<T>, how?: ProgressOptions) => Promise<T>
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
    static override flags = about.flags ?? {}
    protected override readonly interruption = interruptible(advice, graceMs)

    async run(): Promise<void> {
      await run((await this.start()) as unknown as RunContext<F, A>)
    }
  }
}

type Values = Record<string, unknown>
type Print = RunContext<Interfaces.FlagInput, Interfaces.ArgInput>['print']

/**
 * The base of all commands. Signals abort an AbortSignal, warnings go to stderr or into the JSON object, and an error becomes
 * one message and an exit code. Data and results go to stdout, everything else to stderr.
 */
abstract class KlinesCommand extends Command {
  static override baseFlags = baseFlags

  protected abstract readonly interruption: ReturnType<typeof interruptible>
  private readonly warnings: string[] = []
  private values: Values = {}
  private defaults: ConfigDefaults = new Map()
  private given: ReadonlySet<string> = new Set()

  /** Parses the command line, with the defaults of the config file. Throws `bad_config` and `bad_option`. */
  protected async start() {
    const { applyDefaults, findDefaults } = await import('./config/defaults.js')
    // Read only after an error: an unknown value would then hide that error, so it is reported before the run.
    readSwitch('KLINES_DEBUG')
    const { ctor, config, warnings } = this
    const known = { ...ctor.baseFlags, ...ctor.flags }
    this.defaults = await findDefaults(config, this.id, known)
    const flags = applyDefaults(known, this.defaults)
    const output = await this.parse({ ...selectingWithoutLock(ctor.args, flags, this.argv), strict: ctor.strict })
    const values: Values = output.flags
    this.values = values
    readLists(flags, values)
    const given = new Set(output.raw.flatMap(token => (token.type === 'flag' ? [token.flag] : [])))
    this.given = given
    dropAlternatives(values, given)
    const used = [...this.defaults.keys()].filter(name => !given.has(name))
    if (values.verbose && !values.json && used.length > 0)
      printNote(`Defaults from ${findConfigPath()}: ${used.join(', ')}`)
    const { signal } = this.interruption
    const warn = (text: string) => this.note(text)
    const onEvent = (event: KlinesEvent) => event.type === 'warning' && warn(event.message)
    const print: Print = (report, result) => this.print(report, result)
    return {
      ...{ args: output.args, flags: values, options: { ...toOptions(values), signal, onEvent } },
      ...{ given, config, warn, warnings, print },
      show: ((report, result) => (values.json || !values.quiet ? print(report, result) : undefined)) as Print,
      during: this.during.bind(this),
    }
  }

  private note(warning: string): void {
    if (this.warnings.includes(warning)) return
    this.warnings.push(warning)
    if (!this.values.json && !this.values.quiet) printNote(`Note: ${warning}`)
  }

  private print<R extends object>(report: Report<R>, result: R): void {
    if (this.values.json) printJson({ ...report.json(result), warnings: this.warnings })
    else print(report.text(result, this.values))
  }

  private async during<T>(words: ProgressWords, work: (events: Events) => Promise<T>, how: ProgressOptions = {}) {
    const { json, quiet, verbose } = this.values
    const { showProgress } = await import('./terminal/progress.js')
    const style = { ...how, isSilent: Boolean(json || quiet), listsWindows: verbose === true }
    return showProgress(words, style, onEvent => {
      return work({ onEvent: event => (event.type === 'warning' ? this.note(event.message) : onEvent(event)) })
    })
  }

  /** Does not exit: output must be able to reach a slow reader. */
  protected override async catch(error: Error): Promise<void> {
    if (error instanceof Errors.CLIError && error.oclif.exit === 0) return
    const { describeOrigins } = await import('./error-origins.js')
    const { defaults, given } = this
    const { id = '', examples, baseFlags, flags } = this.ctor
    const origins = describeOrigins(error, { ...baseFlags, ...flags }, defaults, given)
    const report = reportError(error, { bin: this.config.bin, command: { id, examples }, debug: isDebug(), origins })
    process.exitCode = report.exitCode
    if (this.values.json || wantsJson(this.argv, defaults)) printJson({ ...report.json, warnings: this.warnings })
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

/** oclif returns one text, with its commas, for a repeatable flag that comes from the environment: makes a list of it. */
function readLists(flags: Interfaces.FlagInput, values: Values): void {
  for (const [name, flag] of Object.entries(flags)) {
    const isList = flag.type === 'option' && flag.multiple && values[name] !== undefined
    if (isList) values[name] = [values[name]].flat()
  }
}
