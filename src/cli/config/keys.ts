import type * as Interfaces from '@oclif/core/interfaces'
import { cleanText } from '../../http/error-body.js'
import { KlinesError } from '../../klines/errors.js'
import { suggest } from '../../klines/suggest.js'
import { variableOf } from '../flags/group.js'
import { goneFlag } from '../gone.js'
import { formatId } from '../usage.js'
import { REFUSED } from './key-groups.js'

/** A flag as oclif defines it. */
// biome-ignore lint/suspicious/noExplicitAny: flags of every type
export type FlagDefinition = Interfaces.OptionFlag<any> | Interfaces.BooleanFlag<any>

/** A command with the flags that a config file may name. */
export interface CommandFlags {
  /** As people type it: `mirror verify`. */
  readonly name: string
  readonly flags: Readonly<Record<string, FlagDefinition>>
}

/** Whether a command takes defaults from config files. `klines config` does not, as it mends them. */
export function takesDefaults(id: string | undefined): boolean {
  return id?.split(':')[0] !== 'config'
}

/** The commands of this program that take defaults, with their flags. */
export async function loadCommands({ commands, pjson }: Interfaces.Config): Promise<CommandFlags[]> {
  const own = commands.filter(({ id, pluginName }) => pluginName === pjson.name && takesDefaults(id))
  return Promise.all(
    own.map(async command => {
      const { baseFlags, flags } = await command.load()
      return { name: formatId(command.id), flags: { ...baseFlags, ...flags } as CommandFlags['flags'] }
    }),
  )
}

/**
 * Whether a key outside of any section sets this flag. A flag with a variable of its own has another meaning than the others of
 * its name (`KLINES_GREETING_URL` of `--base-url`), so only its command's section sets it.
 */
export function isShared(name: string, flag: FlagDefinition): boolean {
  return flag.env === variableOf(name)
}

/** What a file sets: a flag of all commands that have it, or of one command. */
export interface ConfigKey {
  /** `mirror verify`; undefined for all commands. */
  readonly command: string | undefined
  /** The long name of the flag. */
  readonly name: string
}

/** The most characters of an unknown name that a message shows. */
const MAX_NAME = 100

/** `interval`, or `download.interval` in the section of a command. */
export function formatKey({ command, name }: ConfigKey): string {
  return command === undefined ? name : `${command}.${name}`
}

/** Splits `download.interval`; names of flags have no dots. */
export function parseKey(text: string): ConfigKey {
  const dot = text.lastIndexOf('.')
  return { command: dot === -1 ? undefined : text.slice(0, dot), name: text.slice(dot + 1) }
}

/** The flags that a key sets. Throws `bad_config` when there is none, with the nearest name. */
export function findFlags(commands: readonly CommandFlags[], key: ConfigKey): FlagDefinition[] {
  const own = key.command === undefined ? commands : [findCommand(commands, key.command)]
  const { name } = key
  if (Object.hasOwn(REFUSED, name)) {
    throw new KlinesError('bad_config', `"${formatKey(key)}" cannot be set: ${REFUSED[name]}.`)
  }
  const isSet = (flagName: string, flag: FlagDefinition) => key.command !== undefined || isShared(flagName, flag)
  const flags = own.flatMap(({ flags }) => {
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
    return flag && isSet(name, flag) ? [flag] : []
  })
  if (flags.length > 0) return flags
  const gone = goneFlag(`--${name}`, key.command)
  if (gone !== undefined) throw new KlinesError('bad_config', gone)
  const names = own.flatMap(({ flags }) => Object.keys(flags).filter(flag => isSet(flag, flags[flag])))
  throw unknownKey(
    key,
    [...new Set(names)].filter(flag => !Object.hasOwn(REFUSED, flag)),
  )
}

function unknownKey(key: ConfigKey, names: string[]): KlinesError {
  const near = suggest(key.name.replace(/^-+/, ''), names)
  const expected = `Expected the long name of a flag, such as ${key.command === undefined ? 'interval' : names[0]}.`
  const suggestions = [near === undefined ? expected : `Did you mean ${formatKey({ ...key, name: near })}?`]
  const name = cleanText(key.name, MAX_NAME)
  const unknown = key.command === undefined ? `Unknown key "${name}".` : `klines ${key.command} has no flag --${name}.`
  const message = goneFlag(`--${key.name}`, key.command) ?? unknown
  return new KlinesError('bad_config', message, { suggestions })
}

/** The command of that name. Throws `bad_config`. */
export function findCommand(commands: readonly CommandFlags[], name: string): CommandFlags {
  const found = commands.find(command => command.name === name)
  if (found) return found
  const names = commands.map(command => command.name)
  const below = names.filter(other => other.startsWith(`${name} `))
  const near = suggest(name, names)
  const suggestions =
    below.length > 0
      ? [`Expected the whole name of a command: ${below.join(', ')}.`]
      : near === undefined
        ? [`Expected one of ${names.join(', ')}.`]
        : [`Did you mean ${near}?`]
  throw new KlinesError('bad_config', `Unknown command "${cleanText(name, MAX_NAME)}".`, { suggestions })
}
