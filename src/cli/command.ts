import { Command } from '@oclif/core/command'
import type * as Interfaces from '@oclif/core/interfaces'
import { KlinesError } from '../candles/errors.js'
import type { KlinesEvent } from '../engine/run.js'
import * as settings from './config.js'
import { ExitCode, reportError } from './error-report.js'
import { baseFlags } from './flags/shared.js'
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

/** The flags by their names in the library. `signal`: the user interrupts. */
type Options<Flags> = { -readonly [Name in keyof Flags & string as OptionName<Name>]: Flags[Name] } & {
  readonly signal: AbortSignal
  readonly onEvent: (event: KlinesEvent) => void
}

/** Prints a report: with `--json` the object, else the text. */
type Show = <R extends object>(report: Report<R>, result: R) => void

export interface RunContext<F extends Interfaces.FlagInput, A extends Interfaces.ArgInput> {
  readonly args: Interfaces.InferredArgs<A>
  readonly flags: FlagsOf<F>
  readonly options: Options<FlagsOf<F>>
  /** The names of the flags on the command line; other values are defaults. */
  readonly given: ReadonlySet<string>
  readonly config: Interfaces.Config
  /** Reports a warning. Each text is printed once; with `--json` it becomes part of the object. */
  readonly warn: (text: string, isUrgent?: boolean) => void
  /** Shows the progress of `work`, of which it hears by `options.onEvent`. */
  readonly during: <T>(words: ProgressWords, work: () => Promise<T>, style?: ProgressStyle) => Promise<T>
  /** Requested data, also with `--quiet`. */
  readonly print: Show
  /** The summary of a run: no text with `--quiet`. */
  readonly show: Show
}

interface Description<F extends Interfaces.FlagInput, A extends Interfaces.ArgInput> {
  readonly summary: string
  readonly description?: string
  readonly examples?: Command.Example[]
  readonly args?: A
  readonly flags?: F
  /** How long the command may take to end after an interruption, ms. */
  readonly graceMs?: number
  readonly run: (context: RunContext<F, A>) => Promise<void>
}

export function command<F extends Interfaces.FlagInput, A extends Interfaces.ArgInput>({
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
    protected override readonly interruption = interruptible(graceMs)

    async run(): Promise<void> {
      await run((await this.start()) as unknown as RunContext<F, A>)
    }
  }
}

export function refuse(message: string, ...suggestions: string[]): KlinesError {
  return new KlinesError('bad_option', message, { suggestions })
}

/** The error for `--json` beside data on stdout, such as `candles`: they leave no room for the object. */
export function refuseJson(data: string, advice = 'Write to a file with -o FILE, or leave --json out.'): KlinesError {
  const message = `--json prints an object on stdout, where the ${data} should go. Expected one of them.`
  return refuse(message, advice)
}

type Values = Record<string, unknown>

/** A flag on the command line replaces a default of the one that it excludes. */
const ALTERNATIVES = Object.entries({ from: 'last', last: 'from', limit: 'tail', tail: 'limit' })

/** The base of all commands. Data and results go to stdout, everything else to stderr. */
abstract class KlinesCommand extends Command {
  protected abstract readonly interruption: ReturnType<typeof interruptible>
  private readonly warnings = new Set<string>()
  private values: Values = {}
  private defaults: settings.ConfigDefaults = new Map()

  /** Parses the command line, with the defaults of the config file. Throws `bad_config` and `bad_option`. */
  protected async start() {
    const { ctor, config, argv, warnings } = this
    this.defaults = await settings.findDefaults(config, this.id, ctor.flags)
    const flags = settings.applyDefaults(ctor.flags, this.defaults)
    const output = await this.parse(selectingWithoutLock(ctor.args, flags, argv))
    const values: Values = output.flags
    this.values = values
    const given = new Set(output.raw.flatMap(token => (token.type === 'flag' ? [token.flag] : [])))
    for (const [one, other] of ALTERNATIVES) if (given.has(one) && !given.has(other)) values[other] = undefined
    // Of a variable, oclif returns one text, with its commas.
    for (const [name, flag] of Object.entries(flags))
      if (flag.type === 'option' && flag.multiple && values[name] !== undefined) values[name] = [values[name]].flat()
    const warn = (text: string, isUrgent = false) => {
      if (!warnings.has(text) && !values.json && (isUrgent || !values.quiet)) printNote(`Note: ${text}`)
      warnings.add(text)
    }
    let onProgress: ((event: KlinesEvent) => void) | undefined
    const onEvent = (event: KlinesEvent) =>
      event.type === 'warning' ? warn(event.message, event.isUrgent) : onProgress?.(event)
    /** `isSummary`: of a run, which `--quiet` leaves out. */
    const printer = (isSummary: boolean): Show => {
      const isQuiet = isSummary && values.quiet
      const isTable = !isSummary && values.format === 'csv'
      return (report, result) => {
        // Only the text says itself what the range lacks.
        const lacks = values.json || isQuiet || isTable ? report.lacks?.(result) : []
        for (const sentence of lacks ?? []) warn(sentence, true)
        if (values.json) this.printObject(report.json(result))
        else if (isQuiet) {
          report.urgent?.(result).forEach(printNote)
          report.asked?.(result).forEach(print)
        } else print(report.text(result, values))
      }
    }
    const show = printer(true)
    const during: RunContext<never, never>['during'] = async (words, work, style) => {
      const { showProgress } = await import('./terminal/progress.js')
      const shown = { ...style, isSilent: Boolean(values.json || values.quiet), listsWindows: values.verbose === true }
      return showProgress(words, shown, listener => {
        onProgress = listener
        return work()
      })
    }
    const options = { ...toOptions(values), signal: this.interruption.signal, onEvent }
    return { args: output.args, flags: values, options, given, config, warn, print: printer(false), show, during }
  }

  private printObject(object: object): void {
    printJson({ ...object, warnings: [...this.warnings] })
  }

  /** Does not exit: output must be able to reach a slow reader. */
  protected override async catch(error: Error): Promise<void> {
    const { id = '', examples, flags } = this.ctor
    const origins = (message: string) => settings.describeOrigins(flags, this.defaults, this.argv, message)
    const report = reportError(error, { id, argv: this.argv, examples, origins })
    process.exitCode = report.exitCode
    if (this.values.json || settings.wantsJson(this.argv, this.defaults)) this.printObject(report.json)
    // A reader that has seen enough is no failure.
    else if (report.exitCode !== ExitCode.Done) printNote(report.text)
  }

  protected override async finally(): Promise<void> {
    this.interruption.dispose()
  }
}

export function toOptions(flags: Values): Values {
  const toName = (flag: string) => flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  return Object.fromEntries(Object.entries(flags).map(([name, value]) => [toName(name), value]))
}

/** With --lock, nothing else has to say which candles. */
function selectingWithoutLock(args: Interfaces.ArgInput, flags: Interfaces.FlagInput, argv: readonly string[]) {
  const isNamed = process.env.KLINES_LOCK || argv.some(word => word.startsWith('--lock'))
  if (flags.lock === undefined || !isNamed) return { args, flags }
  const interval = { ...flags.interval, required: false } as Interfaces.FlagInput['interval']
  return { args: { ...args, symbol: { ...args.symbol, required: false } }, flags: { ...flags, interval } }
}
