import type * as Errors from '@oclif/core/errors'
import { suggest } from '../klines/suggest.js'
import { goneArgument, goneFlag } from './gone.js'

/** What a usage line needs to know of an argument or a flag: `oclif.manifest.json`, classes and the parser all have it. */
interface Parameter {
  readonly required?: boolean | undefined
  readonly multiple?: boolean | undefined
  readonly hidden?: boolean | undefined
  readonly char?: string | undefined
  readonly helpValue?: string | readonly string[] | undefined
}

type Parameters = Readonly<Record<string, Parameter>>

/** The usage of a command: `download SYMBOL... -i INTERVAL... [FLAGS]`. Optional flags have a list of their own in the help. */
export function formatUsage(id: string, args: Parameters, flags: Parameters): string {
  const required = Object.entries(flags).filter(([, flag]) => flag.required)
  const names = [
    ...Object.entries(args).map(([name, arg]) => formatArg(name, arg)),
    ...required.map(([name, flag]) => formatFlag(name, flag)),
  ]
  return [formatId(id), ...names, '[FLAGS]'].join(' ')
}

/** `mirror publish` for `mirror:publish`. */
export function formatId(id: string): string {
  return id.replaceAll(':', ' ')
}

/** `SYMBOL...`, `[API]` */
function formatArg(name: string, { required, multiple }: Parameter): string {
  const value = `${name.toUpperCase()}${multiple ? '...' : ''}`
  return required ? value : `[${value}]`
}

/** `-i INTERVAL...` */
function formatFlag(name: string, { char, helpValue = 'VALUE', multiple }: Parameter): string {
  return `${char ? `-${char}` : `--${name}`} ${[helpValue].flat().join(' ')}${multiple ? '...' : ''}`
}

/** Required arguments and flags without a value, such as `SYMBOL` and `-i INTERVAL`. */
function findMissing(parsed: {
  input: { args: Parameters; flags: Parameters }
  output: { args: Readonly<Record<string, unknown>>; flags: Readonly<Record<string, unknown>> }
}): string[] {
  const { input, output } = parsed
  const isMissing =
    (values: Readonly<Record<string, unknown>>) =>
    ([name, parameter]: [string, Parameter]) =>
      parameter.required === true && values[name] === undefined
  const one = (parameter: Parameter) => ({ ...parameter, multiple: false })
  return [
    ...Object.entries(input.args)
      .filter(isMissing(output.args))
      .map(([name, arg]) => formatArg(name, one(arg))),
    ...Object.entries(input.flags)
      .filter(isMissing(output.flags))
      .map(([name, flag]) => formatFlag(name, one(flag))),
  ]
}

/** The command whose command line is wrong. */
export interface FailedCommand {
  readonly id: string
  readonly examples?: readonly unknown[] | undefined
}

/** What oclif's parser attaches to its errors; some have an empty object. */
interface Parsed {
  readonly input: { readonly args: Parameters; readonly flags: Parameters }
  readonly output: {
    readonly args: Readonly<Record<string, unknown>>
    readonly flags: Readonly<Record<string, unknown>>
    readonly nonExistentFlags?: readonly string[]
  }
}

/** How many examples a usage error shows. */
const EXAMPLES = 2

/** Describes an error of oclif's parser: what is wrong with the command line, and what to do. */
export function describeUsageError(error: Errors.CLIError, bin: string, command: FailedCommand | undefined) {
  const message = plainMessage(error.message)
  const more = command ? [`Run ${bin} ${formatId(command.id)} --help for more.`] : []
  const { parse } = error as { parse?: Partial<Parsed> }
  const [, option = ''] = /^Expected (--\S+) to be one of/.exec(message) ?? []
  const goneOption = goneFlag(option, command && formatId(command.id))
  if (goneOption) return { message: goneOption, suggestions: more }
  if (!parse?.input || !parse.output) return { message, suggestions: [...suggestOption(message), ...more] }
  const parsed = { input: parse.input, output: parse.output }
  const { nonExistentFlags: unknown = [] } = parsed.output
  if (unknown.length > 0) {
    const gone = unknown.map(flag => goneFlag(flag.split('=')[0], command && formatId(command.id)))
    if (gone.every(text => text !== undefined)) return { message: gone.join(' '), suggestions: more }
    const noun = unknown.length > 1 ? 'flags' : 'flag'
    const suggestions = [...unknown.flatMap(flag => suggestFlag(flag, parsed)), ...more]
    return { message: `Unknown ${noun}: ${unknown.join(', ')}.`, suggestions }
  }
  const argument = message.startsWith('Unexpected argument') && command ? goneArgument(formatId(command.id)) : undefined
  if (argument) return { message: argument, suggestions: more }
  const missing = message.startsWith('Missing') ? findMissing(parsed) : []
  if (missing.length === 0 || !command) return { message, suggestions: [...suggestOption(message), ...more] }
  const usage = `Usage: ${bin} ${formatUsage(command.id, parsed.input.args, parsed.input.flags)}`
  return { message: `Missing ${missing.join(' and ')}.`, suggestions: [usage, ...findExamples(command, bin), ...more] }
}

/** What other programs call flags, and what may be short for two of them. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  '--begin': ['from'],
  '--until': ['to'],
  '--form': ['from', 'format'],
  '--out': ['output'],
}

/** The flag that `--formt=csv` was meant to be. */
function suggestFlag(given: string, { input }: Parsed): string[] {
  const [name] = given.toLowerCase().split('=')
  const flags = Object.keys(input.flags)
  const known = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name].filter(flag => flags.includes(flag)) : []
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
function findExamples({ id, examples = [] }: FailedCommand, bin: string): string[] {
  return examples.slice(0, EXAMPLES).map(example => {
    // A text may begin with a comment; an object has its description apart.
    const command =
      typeof example === 'string'
        ? example.slice(example.indexOf('<%= config.bin %>'))
        : (example as { command: string }).command
    const text = command.replaceAll(/ \\\n\s*/g, ' ')
    return `Example: ${text.replaceAll('<%= config.bin %>', bin).replaceAll('<%= command.id %>', formatId(id))}`
  })
}

/** A message of oclif's parser without colours, headings and advice. */
function plainMessage(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one
  const plain = text.replace(/\u001B\[[0-9;]*m/g, '')
  return plain
    .replace(/\n\nNote: --[\s\S]*?beginning of arguments\./, '')
    .replace(/\nSee more help with --help$/, '')
    .replace(/^The following errors? occurred:\s*/, '')
    .replace(/\s*\n\t/g, ': ')
}
