import * as Errors from '@oclif/core/errors'
import type { Hook } from '@oclif/core/hooks'
import type { Config } from '@oclif/core/interfaces'
import { suggest } from '../klines/suggest.js'
import { ExitCode, wantsJson } from './error-report.js'
import { HELP_TOPICS } from './help-topics.js'
import type { ErrorObject } from './reports/schema.js'
import { printJson } from './terminal/print.js'
import { formatId } from './usage.js'

/** oclif calls this for a command that it does not know. `id` has all words up to the first flag, joined by colons. */
export const commandNotFound: Hook<'command_not_found'> = async ({ config, id, argv = [] }) => {
  const words = id.split(':')
  // `klines mirror help` and `klines symbols help`.
  if (words.length > 1 && words.at(-1) === 'help') return config.runCommand('help', words.slice(0, -1))
  const error = unknownCommand(config, words)
  const { findDefaults } = await import('./config/defaults.js')
  const defaults = await findDefaults(config, id).catch(() => new Map())
  // A flag in place of a command is the id.
  if (!wantsJson([id, ...argv], defaults)) throw error
  const [message, ...suggestions] = error.message.split('\n  ')
  const exitCode = ExitCode.Usage
  printJson({ error: { code: 'usage', message, exitCode, suggestions }, warnings: [] } satisfies ErrorObject)
  process.exitCode = exitCode
  return undefined
}

/** The error for words that are no command; it suggests the command that they were most likely meant to be. */
export function unknownCommand({ bin, commands }: Pick<Config, 'bin' | 'commands'>, words: readonly string[]): Error {
  const names = commands.filter(({ hidden }) => !hidden).map(({ id }) => formatId(id))
  const typed = words.join(' ')
  const command = names.find(name => typed.startsWith(`${name} `))
  if (command) {
    const extra = typed.slice(command.length + 1)
    return usageError(`Unexpected argument: ${extra}.`, `Run ${bin} ${command} --help for more.`)
  }
  const list = (topic = '') => `Run ${bin}${topic} --help for a list of commands.`
  if (typed.startsWith('-')) return usageError(`Expected a command before ${typed}.`, list())
  const near = findNearest(words, names)
  const question = near ? ` Did you mean ${near}?` : ''
  const topic = names.some(name => name.startsWith(`${words[0]} `)) ? words[0] : undefined
  const length = near?.split(' ').length ?? (topic ? 2 : 1)
  const unknown = words.slice(0, length).join(' ')
  return usageError(`Unknown command: ${unknown}.${question}`, list(topic && ` ${topic}`))
}

function findNearest(words: readonly string[], names: readonly string[]): string | undefined {
  const [first, second = ''] = words.map(word => word.toLowerCase())
  const pairs = names.filter(name => name.includes(' '))
  const below = pairs.filter(name => name.startsWith(`${first} `))
  if (below.length > 0) {
    const near = suggest(
      second,
      below.map(name => name.slice(first.length + 1)),
    )
    return near && `${first} ${near}`
  }
  const topics = [...new Set(pairs.map(name => name.split(' ')[0]))]
  return (
    // `klines status`
    pairs.find(name => name.endsWith(` ${first}`)) ??
    suggest(`${first} ${second}`, pairs) ??
    suggest(first, [...names.filter(name => !pairs.includes(name)), ...topics]) ??
    suggest(
      `help ${first}`,
      Object.keys(HELP_TOPICS).map(topic => `help ${topic}`),
    )
  )
}

function usageError(message: string, advice: string): Error {
  return new Errors.CLIError(`${message}\n  ${advice}`, { exit: ExitCode.Usage })
}
