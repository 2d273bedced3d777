import { inspect, stripVTControlCharacters } from 'node:util'
import type { Command } from '@oclif/core/command'
import * as Errors from '@oclif/core/errors'
import type { Hook } from '@oclif/core/hooks'
import type { Config, OptionFlag } from '@oclif/core/interfaces'
import { EXIT_CODES, KlinesError } from '../candles/errors.js'
import { isIntervalWord } from '../candles/intervals.js'
import { nearest } from '../candles/suggest.js'
import { isOn, wantsJson } from './config.js'
import { COMMANDS, hintFlag, lookUp, spellOut } from './habits.js'
import { Interruption } from './signals.js'
import { printJson } from './terminal/print.js'

/** The exit codes that have a name here. An interrupted run ends with 130, 143 or 129, which follow from the signal. */
export enum ExitCode {
  Done = 0,
  Unexpected = 1,
  Usage = 2,
  VerificationFailed = 6,
}

export const VERDICT_EXIT_CODES = { ok: 0, equal: 0, short: 0, incomplete: 3, empty: 4, failed: 6, different: 6 }

interface FailedCommand {
  readonly id: string
  readonly argv?: readonly string[]
  readonly examples?: readonly Command.Example[] | undefined
  /** Where values come from that its command line does not have, and that take part in an error with this message. */
  readonly origins?: (message: string) => string[]
}

/** Any thrown value: its exit code, lines for stderr, and the object that `--json` prints. */
export function reportError(error: unknown, command: FailedCommand = { id: '' }) {
  const { data = {}, ...described } = describe(error, command)
  const { exitCode, message, suggestions } = described
  const stack = isOn('KLINES_DEBUG') && error instanceof Error ? [inspect(error)] : []
  const text = [`klines: ${message}`, ...suggestions.map(line => `  ${line}`), ...stack].join('\n')
  return { exitCode, text, json: { error: { ...described, ...(Object.keys(data).length > 0 && { data }) } } }
}

function describe(error: unknown, command: FailedCommand) {
  if (error instanceof KlinesError) {
    const { code, message, data } = error
    const exitCode: number = EXIT_CODES[code]
    const origins = exitCode === ExitCode.Usage ? command.origins?.(message) : undefined
    const lines = isIntervalWord(String(data.symbol)) ? spellOut(command.id, command.argv) : []
    return { code, message, exitCode, suggestions: [...error.suggestions, ...lines, ...(origins ?? [])], data }
  }
  if (error instanceof Errors.CLIError)
    return { code: 'usage', exitCode: error.oclif.exit ?? ExitCode.Usage, ...describeUsageError(error, command) }
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof Interruption) return { code: 'interrupted', message, exitCode: error.exitCode, suggestions: [] }
  const suggestions = ['This was not expected. Set KLINES_DEBUG=1 to see where it happened.']
  return { code: 'unexpected', message, exitCode: ExitCode.Unexpected, suggestions }
}

/** Manifest, classes and parser all have this of arguments and flags. */
type Parameter = Partial<Pick<OptionFlag<unknown>, 'required' | 'multiple' | 'char' | 'helpValue'>>
type Parameters = Readonly<Record<string, Parameter>>

/** `download SYMBOL... -i INTERVAL... [FLAGS]` */
export function formatUsage(id: string, args: Parameters, flags: Parameters): string {
  const required = Object.entries(flags).filter(([, flag]) => flag.required)
  return [formatId(id), ...Object.entries(args).map(formatArg), ...required.map(formatFlag), '[FLAGS]'].join(' ')
}

/** `mirror publish` for `mirror:publish`. */
function formatId(id: string): string {
  return id.replaceAll(':', ' ')
}

/** `SYMBOL...`, `[API]` */
function formatArg([name, { required, multiple }]: [string, Parameter]): string {
  const value = `${name.toUpperCase()}${multiple ? '...' : ''}`
  return required ? value : `[${value}]`
}

/** `-i INTERVAL...` */
function formatFlag([name, { char, helpValue = 'VALUE', multiple }]: [string, Parameter]): string {
  return `${char ? `-${char}` : `--${name}`} ${helpValue}${multiple ? '...' : ''}`
}

type Values = Readonly<Record<string, unknown>>

/** What oclif's parser attaches to its errors; an error of a value has neither. */
interface Parsed {
  readonly input?: { readonly args: Parameters; readonly flags: Parameters }
  readonly output?: { readonly args: Values; readonly flags: Values; readonly nonExistentFlags?: readonly string[] }
}

function describeUsageError(error: Errors.CLIError, { id, argv, examples = [], origins = () => [] }: FailedCommand) {
  if (error.suggestions) return { message: error.message, suggestions: error.suggestions }
  const more = `Run klines ${formatId(id)} --help for more.`
  const { input, output } = (error as { readonly parse?: Parsed }).parse ?? {}
  if (input && output) {
    const unknown = output.nonExistentFlags ?? []
    if (unknown.length > 0) {
      const message = `Unknown ${unknown.length > 1 ? 'flags' : 'flag'}: ${unknown.join(', ')}.`
      return { message, suggestions: [...new Set(unknown.flatMap(flag => hintFlag(flag, input.flags))), more] }
    }
    const required = (known: Parameters, values: Values) =>
      Object.entries(known).filter(([name, flag]) => flag.required && values[name] === undefined)
    const missing = [
      ...required(input.args, output.args).map(formatArg),
      ...required(input.flags, output.flags).map(formatFlag),
    ]
    if (missing.length > 0) {
      const usage = `Usage: klines ${formatUsage(id, input.args, input.flags)}`
      const message = `Missing ${missing.join(' and ').replaceAll('...', '')}.`
      const shown = examples.slice(0, 2).map(one => `Example: ${typeof one === 'string' ? one : one.command}`)
      return { message, suggestions: [...spellOut(id, argv), usage, ...shown, more] }
    }
  }
  // oclif breaks its messages into lines, and ends them with the advice that stands here already.
  const lines = stripVTControlCharacters(error.message).split('\n')
  if (lines.at(-1) === 'See more help with --help') lines.pop()
  const message = lines.map(line => line.trim()).join(': ')
  return { message, suggestions: [more, ...origins(message)] }
}

/** The error for words that are no command, with the one that they were most likely meant to be. `argv`: those from the first flag on. */
export function unknownCommand({ commands }: Pick<Config, 'commands'>, words: string[], argv: string[] = []) {
  const names = commands.map(({ id }) => formatId(id))
  const typed = words.join(' ')
  const [first, second = ''] = words.map(word => word.toLowerCase())
  const topic = names.some(name => name.startsWith(`${first} `)) ? ` ${first}` : ''
  const fail = (message: string, advice = `Run klines${topic} --help for a list of commands.`) =>
    new Errors.CLIError(message, { exit: 2, suggestions: [advice] })
  const command = names.findLast(name => typed.startsWith(`${name} `))
  if (command !== undefined) {
    const rest = typed.slice(command.length + 1)
    return fail(`Unexpected argument: ${rest}.`, `Run klines ${command} --help for more.`)
  }
  if (typed.startsWith('-')) return fail(`Expected a command before ${typed}.`)
  const other = lookUp(COMMANDS, first)
  const near = other ?? nearest(`${first} ${second}`, names) ?? nearest(first, names)
  const unknown = words.slice(0, other ? 1 : (near?.split(' ').length ?? 1)).join(' ')
  const questions = near ? [`Did you mean ${near}?`] : spellOut('download', [...words, ...argv], '1h')
  return fail([`Unknown command: ${unknown}.`, ...questions].join(' '))
}

/** oclif calls this for a command that it does not know. `id` has all words up to the first flag, joined by colons. */
export const commandNotFound: Hook<'command_not_found'> = async ({ config, id, argv = [] }) => {
  const error = unknownCommand(config, id.split(':'), argv)
  // A flag in place of a command is the id. The config file is not read: it may have a fault of its own.
  if (!wantsJson([id, ...argv])) throw error
  process.exitCode = ExitCode.Usage
  printJson({ ...reportError(error).json, warnings: [] })
}
