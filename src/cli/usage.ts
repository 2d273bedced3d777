import * as Errors from '@oclif/core/errors'
import type { Config, OptionFlag } from '@oclif/core/interfaces'
import { suggest } from '../candles/suggest.js'

/** Manifest, classes and parser all have this of arguments and flags. */
type Parameter = Partial<Pick<OptionFlag<unknown>, 'required' | 'multiple' | 'char' | 'helpValue'>>
export type Parameters = Readonly<Record<string, Parameter>>

/** `download SYMBOL... -i INTERVAL... [FLAGS]` */
export function formatUsage(id: string, args: Parameters, flags: Parameters): string {
  const required = Object.entries(flags).filter(([, flag]) => flag.required)
  return [formatId(id), ...Object.entries(args).map(formatArg), ...required.map(formatFlag), '[FLAGS]'].join(' ')
}

/** `mirror publish` for `mirror:publish`. */
export function formatId(id: string): string {
  return id.replaceAll(':', ' ')
}

/** `SYMBOL...`, `[API]` */
export function formatArg([name, { required, multiple }]: [string, Parameter]): string {
  const value = `${name.toUpperCase()}${multiple ? '...' : ''}`
  return required ? value : `[${value}]`
}

/** `-i INTERVAL...` */
export function formatFlag([name, { char, helpValue = 'VALUE', multiple }]: [string, Parameter]): string {
  return `${char ? `-${char}` : `--${name}`} ${helpValue}${multiple ? '...' : ''}`
}

/** The error for words that are no command, with the one that they were most likely meant to be. */
export function unknownCommand({ commands }: Pick<Config, 'commands'>, words: readonly string[]): Errors.CLIError {
  const names = commands.map(({ id }) => formatId(id))
  const typed = words.join(' ')
  const [first, second = ''] = words.map(word => word.toLowerCase())
  const topic = names.some(name => name.startsWith(`${first} `)) ? ` ${first}` : ''
  const fail = (message: string, advice = `Run klines${topic} --help for a list of commands.`) =>
    new Errors.CLIError(message, { exit: 2, suggestions: [advice] })
  const command = names.find(name => typed.startsWith(`${name} `))
  if (command !== undefined) {
    const rest = typed.slice(command.length + 1)
    return fail(`Unexpected argument: ${rest}.`, `Run klines ${command} --help for more.`)
  }
  if (typed.startsWith('-')) return fail(`Expected a command before ${typed}.`)
  const near = suggest(`${first} ${second}`, names) ?? suggest(first, names)
  const unknown = words.slice(0, near?.split(' ').length ?? 1).join(' ')
  return fail(`Unknown command: ${unknown}.${near ? ` Did you mean ${near}?` : ''}`)
}
