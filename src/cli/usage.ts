import { stripVTControlCharacters } from 'node:util'
import * as Errors from '@oclif/core/errors'
import type { Hook } from '@oclif/core/hooks'
import type { Config, OptionFlag } from '@oclif/core/interfaces'
import { suggest } from '../candles/suggest.js'
import { wantsJson } from './config.js'
import { printJson } from './terminal/print.js'

/** What a usage line needs to know of arguments or flags: `oclif.manifest.json`, classes and the parser all have it. */
type Parameter = Partial<Pick<OptionFlag<unknown>, 'required' | 'multiple' | 'char' | 'helpValue'>>
type Parameters = Readonly<Record<string, Parameter>>
type Values = Readonly<Record<string, unknown>>

/** The command whose command line is wrong. */
export interface FailedCommand {
  readonly id: string
  readonly examples?: readonly unknown[] | undefined
}

/** What oclif's parser attaches to its errors; empty for a value that is none of the options. */
interface Parsed {
  readonly input: { readonly args: Parameters; readonly flags: Parameters }
  readonly output: { readonly args: Values; readonly flags: Values; readonly nonExistentFlags?: readonly string[] }
}

/** What is wrong with a command line, and what to do. */
interface UsageFault {
  readonly message: string
  readonly suggestions: readonly string[]
}

/** The usage of a command: `download SYMBOL... -i INTERVAL... [FLAGS]`. Optional flags have a list of their own in the help. */
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
  return `${char ? `-${char}` : `--${name}`} ${[helpValue].flat().join(' ')}${multiple ? '...' : ''}`
}

/** Whether oclif could read a command line as far as its values: then none of them is at fault. */
export function parsedBefore(error: object): Parsed | undefined {
  const { parse } = error as { readonly parse?: Partial<Parsed> }
  return parse?.input && parse.output ? (parse as Parsed) : undefined
}

/** Describes an error of oclif's parser. */
export function describeUsageError(error: Errors.CLIError, bin: string, command: FailedCommand): UsageFault {
  const more = `Run ${bin} ${formatId(command.id)} --help for more.`
  const parsed = parsedBefore(error)
  const unknown = parsed?.output.nonExistentFlags ?? []
  if (parsed && unknown.length > 0) {
    const near = unknown.flatMap(flag => suggestFlag(flag.split('=', 1)[0], parsed.input.flags))
    const message = `Unknown ${unknown.length > 1 ? 'flags' : 'flag'}: ${unknown.join(', ')}.`
    return { message, suggestions: [...near, more] }
  }
  const missing = parsed && [
    ...findMissing(parsed.input.args, parsed.output.args, formatArg),
    ...findMissing(parsed.input.flags, parsed.output.flags, formatFlag),
  ]
  if (parsed && missing && missing.length > 0) {
    const usage = `Usage: ${bin} ${formatUsage(command.id, parsed.input.args, parsed.input.flags)}`
    return { message: `Missing ${missing.join(' and ')}.`, suggestions: [usage, ...findExamples(command), more] }
  }
  // oclif breaks its messages into lines, and ends them with the advice that stands here already.
  const [first, ...lines] = stripVTControlCharacters(error.message)
    .replace('\nSee more help with --help', '')
    .split('\n')
  return { message: [first.trim(), ...lines.map(line => line.trim())].join(': '), suggestions: [more] }
}

/** What is required and has no value, such as `SYMBOL` and `-i INTERVAL`. */
function findMissing(known: Parameters, values: Values, format: (entry: [string, Parameter]) => string): string[] {
  return Object.entries(known)
    .filter(([name, { required }]) => required && values[name] === undefined)
    .map(([name, parameter]) => format([name, { ...parameter, multiple: false }]))
}

/** What other programs call flags, and what may be short for two of them. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  '--begin': '--from',
  '--until': '--to',
  '--form': '--from or --format',
  '--out': '--output',
}

/** The flag that `--formt` was meant to be. */
function suggestFlag(given: string, flags: Parameters): string[] {
  const name = given.toLowerCase()
  const near = name.startsWith('--') ? suggest(name.slice(2), Object.keys(flags)) : undefined
  const meant = OTHER_NAMES[name] ?? (near && `--${near}`)
  return meant ? [`Did you mean ${meant}?`] : []
}

/** The first two examples of a command's help, without their descriptions and in one line each. */
function findExamples({ examples = [] }: FailedCommand): string[] {
  return examples.slice(0, 2).map(example => {
    const text = typeof example === 'string' ? example : (example as { command: string }).command
    return `Example: ${text.replaceAll(/ \\\n\s*/g, ' ')}`
  })
}

/** oclif calls this for a command that it does not know. `id` has all words up to the first flag, joined by colons. */
export const commandNotFound: Hook<'command_not_found'> = async ({ config, id, argv = [] }) => {
  const words = id.split(':')
  // `klines mirror help` and `klines symbols help`.
  if (words.length > 1 && words.at(-1) === 'help') return config.runCommand('help', words.slice(0, -1))
  // A flag in place of a command is the id. Of two errors, the unknown command is the one to tell, so the config file is not read.
  if (!wantsJson([id, ...argv], new Map())) throw unknownCommand(config, words)
  process.exitCode = 2
  const fault = describeUnknown(config, words)
  printJson({ error: { code: 'usage', exitCode: 2, ...fault }, warnings: [] })
  return undefined
}

type Commands = Pick<Config, 'bin' | 'commands'>

/** The error for words that are no command. */
export function unknownCommand(config: Commands, words: readonly string[]): Error {
  const { message, suggestions } = describeUnknown(config, words)
  return new Errors.CLIError([message, ...suggestions].join('\n  '), { exit: 2 })
}

/** Suggests the command that words were most likely meant to be. */
function describeUnknown({ bin, commands }: Commands, words: readonly string[]): UsageFault {
  const names = commands.filter(({ hidden }) => !hidden).map(({ id }) => formatId(id))
  const typed = words.join(' ')
  const list = (message: string, topic = '') => {
    return { message, suggestions: [`Run ${bin}${topic} --help for a list of commands.`] }
  }
  const command = names.find(name => typed.startsWith(`${name} `))
  if (command) {
    const message = `Unexpected argument: ${typed.slice(command.length + 1)}.`
    return { message, suggestions: [`Run ${bin} ${command} --help for more.`] }
  }
  if (typed.startsWith('-')) return list(`Expected a command before ${typed}.`)
  const near = findNearest(words, names)
  const topic = names.some(name => name.startsWith(`${words[0]} `)) ? words[0] : undefined
  const unknown = words.slice(0, near?.split(' ').length ?? (topic ? 2 : 1)).join(' ')
  return list(`Unknown command: ${unknown}.${near ? ` Did you mean ${near}?` : ''}`, topic && ` ${topic}`)
}

function findNearest(words: readonly string[], names: readonly string[]): string | undefined {
  const [first, second = ''] = words.map(word => word.toLowerCase())
  const pairs = names.filter(name => name.includes(' '))
  const below = pairs.filter(name => name.startsWith(`${first} `))
  if (below.length > 0) return suggest(`${first} ${second}`, below)
  const singles = new Set(names.map(name => name.split(' ', 1)[0]))
  // `klines publish` is `klines mirror publish`.
  const last = pairs.find(name => name.endsWith(` ${first}`))
  return last ?? suggest(`${first} ${second}`, pairs) ?? suggest(first, [...singles])
}
