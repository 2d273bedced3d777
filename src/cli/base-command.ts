import { Command } from '@oclif/core/command'
import * as Errors from '@oclif/core/errors'
import * as Flags from '@oclif/core/flags'
import { once } from '../download/open-source.js'
import type { Warn } from '../download/window-source.js'
import { reportError } from './error-report.js'
import { GRACE_MS, interruptible } from './signals.js'
import type { ProgressStyle } from './terminal/progress.js'

/** Flags of every command. */
const baseFlags = {
  json: Flags.boolean({ helpGroup: 'GLOBAL', summary: 'Print one JSON object instead of text.', env: 'KLINES_JSON' }),
  quiet: Flags.boolean({
    char: 'q',
    helpGroup: 'GLOBAL',
    summary: 'Print data and errors only.',
    env: 'KLINES_QUIET',
  }),
  verbose: Flags.boolean({
    char: 'v',
    helpGroup: 'GLOBAL',
    summary: 'Say on stderr which windows are asked for and how they came; errors come with a stack.',
    env: 'KLINES_VERBOSE',
  }),
}

/** What a command's flags say about talking. */
export interface OutputOptions {
  readonly json: boolean
  readonly quiet: boolean
  readonly verbose: boolean
}

/** What a command hands to the work it starts. */
export interface RunContext {
  /** Aborts when the user interrupts. */
  readonly signal: AbortSignal
  /** Says what people should know. */
  readonly warn: Warn
  readonly progressStyle: ProgressStyle
}

/**
 * The base of all commands: signals become an AbortSignal, warnings go to stderr or into the JSON object, errors become
 * one message and an exit code. Data and results go to stdout, everything else to stderr.
 */
export abstract class BaseCommand extends Command {
  static override baseFlags = baseFlags

  private readonly warnings: string[] = []
  private readonly interruption = interruptible(this.interruptionAdvice, this.graceMs)
  private outputOptions: OutputOptions = { json: false, quiet: false, verbose: false }

  /** Takes the manner of talking from parsed flags; what the work is given to talk with. */
  protected context(flags: OutputOptions): RunContext {
    this.outputOptions = flags
    return { signal: this.interruption.signal, warn: this.note, progressStyle: this.progressStyle }
  }

  /** Says what people should know, once; with `--json` it is part of the object. */
  private readonly note = once(warning => {
    this.warnings.push(warning)
    if (!this.outputOptions.json && !this.outputOptions.quiet) process.stderr.write(`Note: ${warning}\n`)
  })

  /** How long the command may take to end when the user interrupts it, ms. */
  protected get graceMs(): number {
    return GRACE_MS
  }

  /** What is said to who interrupts. */
  protected get interruptionAdvice(): string {
    return 'What was brought stays in the mirror; the same command goes on from there.'
  }

  /** A spinner is for a person at a terminal who did not ask for silence. */
  private get progressStyle(): ProgressStyle {
    if (this.outputOptions.quiet || this.outputOptions.json) return 'none'
    if (this.outputOptions.verbose) return 'lines'
    // A terminal of no known size says that it has 0 columns, over which the spinner would wrap its lines without end.
    const { isTTY, columns } = process.stderr
    return isTTY === true && columns > 0 && process.env.TERM !== 'dumb' ? 'spinner' : 'none'
  }

  /** Prints what a run did: the JSON object (with the warnings), or the summary unless `--quiet`. */
  protected show(json: object, summary: () => string): void {
    if (this.outputOptions.json || !this.outputOptions.quiet) this.showData(json, summary)
  }

  /** Prints what was asked for: the JSON object (with the warnings), or the text, also with `--quiet`. */
  protected showData(json: object, text: () => string): void {
    const lines = this.outputOptions.json ? JSON.stringify({ ...json, warnings: this.warnings }, null, 2) : text()
    process.stdout.write(`${lines}\n`)
  }

  /** Never exits: what has been written must be able to reach a slow reader. */
  protected override async catch(error: Error): Promise<void> {
    if (error instanceof Errors.CLIError && error.oclif.exit === 0) return
    const { json, verbose } = this.optionsFromArgv()
    const report = reportError(error, { bin: this.config.bin, verbose })
    process.exitCode = report.exitCode
    if (json) process.stdout.write(`${JSON.stringify({ ...report.json, warnings: this.warnings }, null, 2)}\n`)
    else process.stderr.write(`${report.text}\n`)
  }

  protected override async finally(): Promise<void> {
    this.interruption.dispose()
  }

  /** The flags may not have been parsed when an error comes. */
  private optionsFromArgv(): Pick<OutputOptions, 'json' | 'verbose'> {
    const end = this.argv.indexOf('--')
    const flags = end === -1 ? this.argv : this.argv.slice(0, end)
    const json = this.outputOptions.json || /^(1|true|yes|y)$/i.test(process.env.KLINES_JSON ?? '')
    const { verbose } = this.outputOptions
    return {
      json: json || flags.includes('--json'),
      verbose: verbose || flags.includes('-v') || flags.includes('--verbose'),
    }
  }
}
