import type * as Errors from '@oclif/core/errors'
import { suggest } from '../klines/suggest.js'
import { findMissing, formatId, formatUsage, type Parameters } from './usage.js'

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
  if (!parse?.input || !parse.output) return { message, suggestions: [...suggestOption(message), ...more] }
  const parsed = { input: parse.input, output: parse.output }
  const { nonExistentFlags: unknown = [] } = parsed.output
  if (unknown.length > 0) {
    const noun = unknown.length > 1 ? 'flags' : 'flag'
    const suggestions = [...unknown.flatMap(flag => suggestFlag(flag, parsed)), ...more]
    return { message: `Unknown ${noun}: ${unknown.join(', ')}.`, suggestions }
  }
  const missing = message.startsWith('Missing') ? findMissing(parsed) : []
  if (missing.length === 0 || !command) return { message, suggestions: more }
  const usage = `Usage: ${bin} ${formatUsage(command.id, parsed.input.args, parsed.input.flags)}`
  return { message: `Missing ${missing.join(' and ')}.`, suggestions: [usage, ...findExamples(command, bin), ...more] }
}

/** The flag that `--formt=csv` was meant to be. */
function suggestFlag(given: string, { input }: Parsed): string[] {
  const [name] = given.toLowerCase().split('=')
  const near = name.startsWith('--') ? suggest(name.slice(2), Object.keys(input.flags)) : undefined
  return near ? [`Did you mean --${near}?`] : []
}

/** The value that was meant, from oclif's message about a flag or an argument with fixed values. */
function suggestOption(message: string): string[] {
  const [, given, options] = /^Expected (?:--[\w-]+=)?(.*) to be one of: (.*)$/.exec(message) ?? []
  const near = given && suggest(given.toLowerCase(), options.split(', '))
  return near ? [`Did you mean ${near}?`] : []
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
