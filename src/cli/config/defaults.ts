import type { BooleanFlag, Config, FlagInput, OptionFlag } from '@oclif/core/interfaces'
import { KlinesError } from '../../candles/errors.js'
import { suggest } from '../../candles/suggest.js'
import { cleanText } from '../../sources/error-body.js'
import { variableOf } from '../flags/group.js'
import { goneFlag } from '../gone.js'
import { readSwitch } from '../switch-variable.js'
import { findConfigPath, readConfigFile } from './file.js'

// biome-ignore lint/suspicious/noExplicitAny: flags of every type
type FlagDefinition = OptionFlag<any> | BooleanFlag<any>
export type FlagValue = boolean | string | number | (string | number)[]
/** Values of flags by their long names. */
export type ConfigDefaults = ReadonlyMap<string, FlagValue>

/** A value that is set, and where. */
export interface Setting {
  /** The long name of a flag. */
  readonly key: string
  readonly value: FlagValue
  readonly origin: 'environment' | 'user'
  /** The variable or the file. */
  readonly source: string
  /** Whether a variable overrides it. */
  readonly overridden: boolean
}

/** What every command line has to say itself: what it replaces, removes, names or sends. */
const REFUSED = ['force', 'prune', 'output', 'lock']

/** A flag with a variable of its own has another meaning than others of its name, such as `base-url` of `openapi`. */
function isKey(name: string, flag: { readonly env?: string | undefined } | undefined): boolean {
  return flag?.env === variableOf(name) && !REFUSED.includes(name)
}

/** The values of the file, all checked. Throws `bad_config` with the file and the key. */
export async function readSettings(config: Config): Promise<ConfigDefaults> {
  const [path, settings] = [findConfigPath(), new Map<string, FlagValue>()]
  for (const [name, value] of Object.entries(readConfigFile(path))) {
    settings.set(name, await parseSetting(config, name, value, `${path}: `))
  }
  return settings
}

/** Every value of an environment variable or the config file, by key, the strongest first. Throws `bad_config`. */
export async function listSettings(config: Config) {
  const path = findConfigPath()
  const variables = new Map<string, Setting>()
  for (const command of config.commands) {
    for (const [key, { env: source }] of Object.entries(command.flags)) {
      const value = source && process.env[source]
      if (source && value) variables.set(source, { key, value, origin: 'environment', source, overridden: false })
    }
  }
  const settings = [...(await readSettings(config))].map(([key, value]): Setting => {
    return { key, value, origin: 'user', source: String(path), overridden: Boolean(process.env[variableOf(key)]) }
  })
  // Sorting is stable: what overrides comes first.
  const values = [...variables.values(), ...settings].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  return { values, path }
}

/** A value as its flag parses it. `prefix`: of the message. Throws `bad_config`. */
export async function parseSetting({ commands }: Config, name: string, value: unknown, prefix = '') {
  const command = commands.find(({ flags }) => isKey(name, flags[name]))
  if (command === undefined) throw unknownKey(commands, name, prefix)
  const { baseFlags, flags } = await command.load()
  try {
    return await parseValue({ ...baseFlags, ...flags }[name] as FlagDefinition, value)
  } catch (error) {
    const message = (error as Error).message.replace(/ but received: .*/s, '.')
    throw new KlinesError('bad_config', `${prefix}${name} is ${cleanText(JSON.stringify(value), 100)}. ${message}`)
  }
}

function unknownKey(commands: Config['commands'], name: string, prefix: string): KlinesError {
  const refused = REFUSED.includes(name) ? `"${name}" cannot be set: every command line has to say it.` : undefined
  const known = refused ?? goneFlag(`--${name}`)
  if (known) return new KlinesError('bad_config', prefix + known)
  const names = commands.flatMap(({ flags }) => Object.keys(flags).filter(flag => isKey(flag, flags[flag])))
  const near = suggest(name.replace(/^-+/, ''), [...new Set(names)])
  const advice = near ? `Did you mean ${near}?` : 'Expected the long name of a flag, such as interval.'
  return new KlinesError('bad_config', `${prefix}Unknown key "${cleanText(name, 100)}".`, { suggestions: [advice] })
}

async function parseValue(flag: FlagDefinition, value: unknown): Promise<FlagValue> {
  if (flag.type === 'boolean') {
    if (['true', 'false'].includes(String(value))) return String(value) === 'true'
    throw new Error('Expected true or false.')
  }
  const { multiple, delimiter, options } = flag
  const texts = (multiple ? [value].flat() : [value]).flatMap(item => {
    if (typeof item !== 'string') return typeof item === 'number' ? String(item) : ''
    return multiple && delimiter ? item.split(delimiter).map(part => part.trim()) : item
  })
  if (texts.length === 0 || texts.some(text => text === '' || options?.includes(text) === false)) {
    const what = options ? `one of ${options.join(', ')}` : multiple ? 'a list of texts' : 'a text or a number'
    throw new Error(`Expected ${what}.`)
  }
  const values = await Promise.all(texts.map(text => flag.parse(text, {} as never, flag as never)))
  return (multiple ? values : values[0]) as FlagValue
}

/** Both say where a range starts: the environment replaces the other one, too. */
const ALTERNATIVES: Readonly<Record<string, string>> = { from: 'last', last: 'from' }

/** What the file sets for a command with these flags and the environment does not. Throws `bad_config`. */
export async function findDefaults(config: Config, id: string | undefined, flags: FlagInput): Promise<ConfigDefaults> {
  // `klines config` mends the file.
  if (id?.split(':')[0] === 'config') return new Map()
  const isInEnvironment = (name: string) => Boolean(process.env[variableOf(name)])
  const isTaken = (name: string) => isInEnvironment(name) || isInEnvironment(ALTERNATIVES[name] ?? name)
  return new Map([...(await readSettings(config))].filter(([name]) => isKey(name, flags[name]) && !isTaken(name)))
}

/**
 * Copies of flags with these defaults. `--no-NAME` turns off any boolean, as the file may have turned it on, and its variable is
 * read here: oclif takes any text that it does not know for "off".
 */
export function applyDefaults<Flags extends FlagInput>(flags: Flags, defaults: ConfigDefaults): Flags {
  const copies = Object.entries(flags).map(([name, flag]) => {
    const initial = defaults.get(name) ?? flag.default
    if (flag.type === 'option') return [name, { ...flag, default: initial }]
    const { env: variable, ...copy } = flag
    const readDefault = async () => (variable && readSwitch(variable)) ?? initial
    return [name, { ...copy, allowNo: true, default: readDefault }]
  })
  return Object.fromEntries(copies)
}
