import { Command } from '@oclif/core/command'
import * as Errors from '@oclif/core/errors'
import type * as Interfaces from '@oclif/core/interfaces'
import type { ConfigDefaults } from './config/defaults.js'
import { findConfigPath } from './config/file.js'
import { ExitCode, isDebug, reportError, wantsJson } from './error-report.js'
import { baseFlags, type OutputOptions } from './flags/run.js'
import type { Report, StreamedReport } from './reports/report.js'
import { GRACE_MS, interruptible } from './signals.js'
import { readSwitch } from './switch-variable.js'
import { print, printJson, printNote, printPieces } from './terminal/print.js'
import type { ProgressStyle } from './terminal/progress.js'

/** What a command passes to its job. */
export interface RunContext {
  /** Aborts when the user interrupts. */
  readonly signal: AbortSignal
  /** Reports a warning. */
  readonly warn: (warning: string) => void
  readonly progressStyle: ProgressStyle
  /** The names of the flags on the command line; other values are defaults, from the environment or from the user's config file. */
  readonly given: ReadonlySet<string>
}

/** The advice after `Interrupted` for a command that downloads. */
const CONTINUE_ADVICE = 'The mirror keeps what was downloaded; run the same command again to continue.'

/**
 * The base of all commands. Signals abort an AbortSignal, warnings go to stderr or into the JSON object, and an error becomes
 * one message and an exit code. Data and results go to stdout, everything else to stderr.
 */
export abstract class BaseCommand extends Command {
  static override baseFlags = baseFlags

  /** How long the command may take to end after an interruption, ms. */
  protected readonly graceMs: number = GRACE_MS
  /** The advice after `Interrupted`. */
  protected readonly interruptionAdvice: string = CONTINUE_ADVICE
  private readonly warnings: string[] = []
  private interruption!: ReturnType<typeof interruptible>
  private outputOptions: OutputOptions = { json: false, quiet: false, verbose: false }
  private defaults: ConfigDefaults = new Map()
  private flags: Interfaces.FlagInput = {}
  private given: ReadonlySet<string> = new Set()

  protected override async init(): Promise<void> {
    this.interruption = interruptible(this.interruptionAdvice, this.graceMs)
    await super.init()
  }

  /** Parses the command line, with the defaults of the config file. Throws `bad_config` and `bad_option`. */
  protected override async parse<
    F extends Interfaces.OutputFlags<Interfaces.FlagInput>,
    B extends Interfaces.OutputFlags<Interfaces.FlagInput>,
    A extends Interfaces.OutputArgs<Interfaces.ArgInput>,
  >(options: Interfaces.Input<F, B, A>, argv?: string[]): Promise<Interfaces.ParserOutput<F, B, A>> {
    const { applyDefaults, findDefaults } = await import('./config/defaults.js')
    // Read only after an error: an unknown value would then hide that error, so it is reported before the run.
    readSwitch('KLINES_DEBUG')
    this.flags = { ...options.baseFlags, ...options.flags }
    this.defaults = await findDefaults(this.config, this.id, this.flags)
    const flags = applyDefaults(this.flags, this.defaults)
    const output = await super.parse({ ...options, flags } as typeof options, argv)
    readLists(flags, output.flags)
    this.given = new Set(output.raw.flatMap(token => (token.type === 'flag' ? [token.flag] : [])))
    const { json, verbose } = output.flags as Partial<OutputOptions>
    const used = [...this.defaults.keys()].filter(name => !this.given.has(name))
    if (verbose && !json && used.length > 0) printNote(`Defaults from ${findConfigPath()}: ${used.join(', ')}`)
    return output
  }

  /** Applies parsed flags; returns what the job needs. */
  protected context(flags: OutputOptions): RunContext {
    this.outputOptions = flags
    const { signal } = this.interruption
    const { given, progressStyle } = this
    return { signal, warn: text => this.note(text), progressStyle, given }
  }

  /** Prints a warning, each text once; with `--json` it becomes part of the object. */
  private note(warning: string): void {
    if (this.warnings.includes(warning)) return
    this.warnings.push(warning)
    if (!this.outputOptions.json && !this.outputOptions.quiet) printNote(`Note: ${warning}`)
  }

  private get progressStyle(): ProgressStyle {
    const { json, quiet, verbose } = this.outputOptions
    const isSilent = json || quiet
    const windows = verbose && !isSilent
    if (isSilent) return { kind: 'none', windows }
    // A bar needs a person at a terminal. One of unknown size reports 0 columns, in which its lines would wrap without end.
    const { isTTY, columns } = process.stderr
    const hasBar = isTTY === true && columns > 0 && process.env.TERM !== 'dumb' && !windows
    return { kind: hasBar ? 'bar' : 'plain', windows }
  }

  /** Prints the summary of a run: the JSON object (with the warnings), or the text unless `--quiet`. */
  protected show(report: Report): void {
    if (this.outputOptions.json || !this.outputOptions.quiet) this.showData(report)
  }

  /** Prints requested data: the JSON object (with the warnings), or the text, also with `--quiet`. `exitCode`: of the run. */
  protected showData(report: Report & { readonly exitCode?: ExitCode }): void {
    if (this.outputOptions.json) printJson({ ...report.json, warnings: this.warnings })
    else print(report.text())
    if (report.exitCode !== undefined) process.exitCode = report.exitCode
  }

  /** Prints requested data of any length. */
  protected async showPieces({ json, text }: StreamedReport, signal: AbortSignal): Promise<void> {
    await printPieces(this.outputOptions.json ? json(this.warnings) : text(), signal)
  }

  /** Does not exit: output must be able to reach a slow reader. */
  protected override async catch(error: Error): Promise<void> {
    if (error instanceof Errors.CLIError && error.oclif.exit === 0) return
    const { describeOrigins } = await import('./error-origins.js')
    const { flags, defaults, given } = this
    const origins = describeOrigins(error, { flags, defaults, given })
    const { id = '', examples } = this.ctor
    const report = reportError(error, { bin: this.config.bin, command: { id, examples }, debug: isDebug(), origins })
    process.exitCode = report.exitCode
    if (this.outputOptions.json || wantsJson(this.argv, defaults))
      printJson({ ...report.json, warnings: this.warnings })
    // A reader that has seen enough is no failure.
    else if (report.exitCode !== ExitCode.Done) printNote(report.text)
  }

  protected override async finally(): Promise<void> {
    this.interruption.dispose()
  }
}

/** oclif returns one text, with its commas, for a repeatable flag that comes from the environment: makes a list of it. */
function readLists(flags: Interfaces.FlagInput, values: Record<string, unknown>): void {
  for (const [name, flag] of Object.entries(flags)) {
    const isList = flag.type === 'option' && flag.multiple && values[name] !== undefined
    if (isList) values[name] = [values[name]].flat()
  }
}
