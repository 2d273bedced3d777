import * as Errors from '@oclif/core/errors'
import type { Hook } from '@oclif/core/hooks'
import type { Config } from '@oclif/core/interfaces'
import { suggest } from '../candles/suggest.js'
import { ExitCode, wantsJson } from './error-report.js'
import { baseFlags } from './flags/run.js'
import { goneArgument, goneCommand } from './gone.js'
import { printJson } from './terminal/print.js'
import { formatId } from './usage.js'

/** oclif calls this for a command that it does not know. `id` has all words up to the first flag, joined by colons. */
export const commandNotFound: Hook<'command_not_found'> = async ({ config, id, argv = [] }) => {
  const words = id.split(':')
  // `klines mirror help` and `klines symbols help`.
  if (words.length > 1 && words.at(-1) === 'help') return config.runCommand('help', words.slice(0, -1))
  const { findDefaults } = await import('./config/defaults.js')
  // Of two errors, the unknown command is the one to tell.
  const defaults = await findDefaults(config, id, baseFlags).catch(() => new Map())
  // A flag in place of a command is the id.
  if (!wantsJson([id, ...argv], defaults)) throw unknownCommand(config, words)
  const { message, advice } = describeUnknown(config, words)
  const exitCode = ExitCode.Usage
  process.exitCode = exitCode
  printJson({ error: { code: 'usage', message, exitCode, suggestions: [advice] }, warnings: [] })
  return undefined
}

/** The error for words that are no command. */
export function unknownCommand(config: Commands, words: readonly string[]): Error {
  const { message, advice } = describeUnknown(config, words)
  return new Errors.CLIError(`${message}\n  ${advice}`, { exit: ExitCode.Usage })
}

type Commands = Pick<Config, 'bin' | 'commands'>

/** Suggests the command that words were most likely meant to be. */
function describeUnknown({ bin, commands }: Commands, words: readonly string[]): { message: string; advice: string } {
  const names = commands.filter(({ hidden }) => !hidden).map(({ id }) => formatId(id))
  const typed = words.join(' ')
  const list = (topic = '') => `Run ${bin}${topic} --help for a list of commands.`
  const command = names.find(name => typed.startsWith(`${name} `))
  const gone = goneCommand(words) ?? goneCommand(['help', ...words]) ?? (command && goneArgument(command))
  if (gone) return { message: gone, advice: list() }
  if (command) {
    const extra = typed.slice(command.length + 1)
    return { message: `Unexpected argument: ${extra}.`, advice: `Run ${bin} ${command} --help for more.` }
  }
  if (typed.startsWith('-')) return { message: `Expected a command before ${typed}.`, advice: list() }
  const near = findNearest(words, names)
  const question = near ? ` Did you mean ${near}?` : ''
  const topic = names.some(name => name.startsWith(`${words[0]} `)) ? words[0] : undefined
  const length = near?.split(' ').length ?? (topic ? 2 : 1)
  const unknown = words.slice(0, length).join(' ')
  return { message: `Unknown command: ${unknown}.${question}`, advice: list(topic && ` ${topic}`) }
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
    suggest(first, [...names.filter(name => !pairs.includes(name)), ...topics])
  )
}
