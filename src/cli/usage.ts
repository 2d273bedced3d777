import { stripVTControlCharacters } from 'node:util'
import type * as Errors from '@oclif/core/errors'
import { suggest } from '../candles/suggest.js'
import { goneArgument, goneFlag } from './gone.js'

/** What a usage line needs to know of an argument or a flag: `oclif.manifest.json`, classes and the parser all have it. */
interface Parameter {
  readonly required?: boolean | undefined
  readonly multiple?: boolean | undefined
  readonly char?: string | undefined
  readonly helpValue?: string | readonly string[] | undefined
}

type Parameters = Readonly<Record<string, Parameter>>
type Values = Readonly<Record<string, unknown>>

/** The usage of a command: `download SYMBOL... -i INTERVAL... [FLAGS]`. Optional flags have a list of their own in the help. */
export function formatUsage(id: string, args: Parameters, flags: Parameters): string {
  const required = Object.entries(flags).filter(([, flag]) => flag.required)
  return [formatId(id), ...Object.entries(args).map(formatArg), ...required.map(formatFlag), '[FLAGS]'].join(' ')
}

/** `mirror publish` for `mirror:publish`. */
export function formatId(id: string): string {
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

/** The command whose command line is wrong. */
export interface FailedCommand {
  readonly id: string
  readonly examples?: readonly unknown[] | undefined
}

/** What oclif's parser attaches to its errors; some have an empty object. */
interface Parsed {
  readonly input: { readonly args: Parameters; readonly flags: Parameters }
  readonly output: { readonly args: Values; readonly flags: Values; readonly nonExistentFlags?: readonly string[] }
}

/** How many examples a usage error shows. */
const EXAMPLES = 2

/** Describes an error of oclif's parser: what is wrong with the command line, and what to do. */
export function describeUsageError(error: Errors.CLIError, bin: string, command: FailedCommand | undefined) {
  const id = command && formatId(command.id)
  const message = plainMessage(error.message)
  const describe = (message: string, suggestions: readonly string[] = []) => {
    return { message, suggestions: [...suggestions, ...(id ? [`Run ${bin} ${id} --help for more.`] : [])] }
  }
  const { parse } = error as { parse?: Partial<Parsed> }
  const [, option = ''] = /^Expected (--\S+) to be one of/.exec(message) ?? []
  const gone = goneFlag(option, id) ?? (id && message.startsWith('Unexpected argument') ? goneArgument(id) : undefined)
  if (gone) return describe(gone)
  if (!parse?.input || !parse.output) return describe(message, suggestOption(message))
  const { input, output } = parse
  const { nonExistentFlags: unknown = [] } = output
  if (unknown.length > 0) {
    const gone = unknown.map(flag => goneFlag(flag.split('=')[0], id))
    if (gone.every(text => text !== undefined)) return describe(gone.join(' '))
    const flags = `Unknown ${unknown.length > 1 ? 'flags' : 'flag'}: ${unknown.join(', ')}.`
    return describe(
      flags,
      unknown.flatMap(flag => suggestFlag(flag, Object.keys(input.flags))),
    )
  }
  const missing = [
    ...findMissing(input.args, output.args, formatArg),
    ...findMissing(input.flags, output.flags, formatFlag),
  ]
  if (!message.startsWith('Missing') || missing.length === 0 || !command)
    return describe(message, suggestOption(message))
  const usage = `Usage: ${bin} ${formatUsage(command.id, input.args, input.flags)}`
  return describe(`Missing ${missing.join(' and ')}.`, [usage, ...findExamples(command)])
}

/** What is required and has no value, such as `SYMBOL` and `-i INTERVAL`. */
function findMissing(known: Parameters, values: Values, format: (entry: [string, Parameter]) => string): string[] {
  return Object.entries(known)
    .filter(([name, { required }]) => required && values[name] === undefined)
    .map(([name, parameter]) => format([name, { ...parameter, multiple: false }]))
}

/** What other programs call flags, and what may be short for two of them. */
const OTHER_NAMES = new Map([
  ['--begin', ['from']],
  ['--until', ['to']],
  ['--form', ['from', 'format']],
  ['--out', ['output']],
])

/** The flag that `--formt=csv` was meant to be. */
function suggestFlag(given: string, flags: readonly string[]): string[] {
  const [name] = given.toLowerCase().split('=')
  const known = OTHER_NAMES.get(name)?.filter(flag => flags.includes(flag)) ?? []
  if (known.length > 0) return [`Did you mean ${known.map(flag => `--${flag}`).join(' or ')}?`]
  const near = name.startsWith('--') ? suggest(name.slice(2), flags) : undefined
  return near ? [`Did you mean --${near}?`] : []
}

/** The value that was meant, from oclif's message about a flag or an argument with fixed values. */
function suggestOption(message: string): string[] {
  const [, given, options] = /^Expected (?:--[\w-]+=)?(.*) to be one of: (.*)$/.exec(message) ?? []
  const near = given && suggest(given.toLowerCase(), options.split(', '))
  if (near) return [`Did you mean ${near}?`]
  // A shell makes two words of it.
  return /^Unexpected argument: \d{1,2}:\d{2}/.test(message) ? ['Join date and time by a T: 2024-01-31T12:00.'] : []
}

/** The first examples of a command's help, without their descriptions and in one line each. */
function findExamples({ examples = [] }: FailedCommand): string[] {
  return examples.slice(0, EXAMPLES).map(example => {
    const text = typeof example === 'string' ? example : (example as { command: string }).command
    return `Example: ${text.replaceAll(/ \\\n\s*/g, ' ')}`
  })
}

/** A message of oclif's parser without colours, headings and advice. */
function plainMessage(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/\n\nNote: --[\s\S]*?beginning of arguments\./, '')
    .replace(/\nSee more help with --help$/, '')
    .replace(/^The following errors? occurred:\s*/, '')
    .replace(/\s*\n\t/g, ': ')
}
