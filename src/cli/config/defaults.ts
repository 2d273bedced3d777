import type * as Interfaces from '@oclif/core/interfaces'
import { baseFlags } from '../flags/run.js'
import { readSwitch } from '../switch-variable.js'
import { formatId } from '../usage.js'
import type { ConfigOrigin } from './file.js'
import { type CommandFlags, type FlagDefinition, formatKey, isShared, loadCommands, takesDefaults } from './keys.js'
import { type FlagValue, parseValue, readConfigFiles, readSettings, type Setting } from './settings.js'

/** A default of a flag that a file sets. */
interface ConfigDefault {
  readonly setting: Setting
  /** As oclif would parse it. */
  readonly value: FlagValue
}

/** By the name of the flag. */
export type ConfigDefaults = ReadonlyMap<string, ConfigDefault>

/** Both say where a range starts: the stronger one replaces the other. */
const ALTERNATIVES: Readonly<Record<string, string>> = { from: 'last', last: 'from' }

/**
 * The defaults that files set for a command. The environment wins over all of them, then the command's section in the folder's
 * file, its other keys, and the same in the user's file.
 */
export async function mergeSettings(
  { name: command, flags }: CommandFlags,
  settings: readonly Setting[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<ConfigDefaults> {
  const defaults = new Map<string, ConfigDefault>()
  let taken = new Set(Object.keys(flags).filter(name => isInEnvironment(flags[name], env)))
  for (const level of toLevels(command, settings)) {
    const before = taken
    taken = new Set(before)
    for (const setting of level) {
      const { name } = setting
      if (before.has(name) || before.has(ALTERNATIVES[name])) continue
      const value = await findValue(flags, setting)
      if (value === undefined) continue
      defaults.set(name, { setting, value })
      taken.add(name)
    }
  }
  return defaults
}

/** As oclif sees it: an empty variable is not set. */
function isInEnvironment({ env: variable }: FlagDefinition, env: NodeJS.ProcessEnv): boolean {
  return variable !== undefined && Boolean(env[variable])
}

/** The settings that may concern a command, the strongest first; those of one level do not compete. */
function toLevels(command: string, settings: readonly Setting[]): Setting[][] {
  return (['folder', 'user'] as const).flatMap(origin =>
    [command, undefined].map(scope =>
      settings.filter(setting => setting.origin === origin && setting.command === scope),
    ),
  )
}

/** The value for the command's own flag; undefined when the key is for other commands. */
async function findValue(flags: CommandFlags['flags'], setting: Setting): Promise<FlagValue | undefined> {
  const { name, command, value } = setting
  const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
  if (!flag || (command === undefined && !isShared(name, flag))) return undefined
  return parseValue(name, flag, value).catch(() => undefined)
}

/** The defaults that config files set for a command of oclif; an unknown one has the flags of all. Throws `bad_config`. */
export async function findDefaults(config: Interfaces.Config, id: string | undefined): Promise<ConfigDefaults> {
  const files = takesDefaults(id) ? readConfigFiles() : []
  if (files.length === 0 || id === undefined) return new Map()
  const commands = await loadCommands(config)
  const name = formatId(id)
  const command = commands.find(command => command.name === name)
  const flags = command?.flags ?? (baseFlags as CommandFlags['flags'])
  return mergeSettings({ name, flags }, await readSettings(commands, files))
}

/**
 * Copies of flags with these defaults. `--no-NAME` turns off any boolean, as a file may have turned it on, and its variable is
 * read here: oclif takes any text that it does not know for "off".
 */
export function applyDefaults<Flags extends Interfaces.FlagInput>(flags: Flags, defaults: ConfigDefaults): Flags {
  const copies = Object.entries(flags).map(([name, flag]) => {
    const initial = defaults.get(name)?.value ?? flag.default
    if (flag.type === 'option') return [name, { ...flag, default: initial }]
    const { env: variable, ...copy } = flag
    const readDefault = async () => (variable && readSwitch(variable)) ?? initial
    return [name, { ...copy, allowNo: true, default: readDefault }]
  })
  return Object.fromEntries(copies)
}

/** A line for each file that sets a default which the command line leaves as it is. */
export function describeDefaults(defaults: ConfigDefaults, given: ReadonlySet<string>): string[] {
  const names = new Map<string, string[]>()
  for (const [name, { setting }] of defaults) {
    if (!given.has(name)) names.set(setting.path, [...(names.get(setting.path) ?? []), name])
  }
  return [...names].map(([path, flags]) => `Defaults from ${path}: ${flags.join(', ')}`)
}

/** A value that is set, and where. */
export interface ListedValue {
  /** As a config file would have it: `interval`, `download.interval`. */
  readonly key: string
  /** The long name of the flag. */
  readonly name: string
  readonly value: unknown
  readonly origin: 'environment' | ConfigOrigin
  /** The variable or the file. */
  readonly source: string
  /** Whether a stronger origin sets it too, for every command that has the flag. */
  readonly overridden: boolean
}

/** The values of the environment and of config files, by key, the strongest first. */
export async function listValues(
  commands: readonly CommandFlags[],
  settings: readonly Setting[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<ListedValue[]> {
  const merged = await Promise.all(commands.map(command => mergeSettings(command, settings, env)))
  const used = new Set(merged.flatMap(defaults => [...defaults.values()].map(({ setting }) => setting)))
  const fromFiles = settings.map(setting => ({
    key: formatKey(setting),
    name: setting.name,
    value: setting.value,
    origin: setting.origin,
    source: setting.path,
    overridden: !used.has(setting),
  }))
  // Sorting is stable.
  return [...listVariables(commands, env), ...fromFiles].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
}

/** A variable that several commands share is listed once. */
function listVariables(commands: readonly CommandFlags[], env: NodeJS.ProcessEnv): ListedValue[] {
  const values = new Map<string, ListedValue>()
  for (const { name: command, flags } of commands) {
    for (const [name, flag] of Object.entries(flags)) {
      const { env: source } = flag
      if (source === undefined || !isInEnvironment(flag, env)) continue
      const key = formatKey({ command: isShared(name, flag) ? undefined : command, name })
      values.set(key, { key, name, value: env[source], origin: 'environment', source, overridden: false })
    }
  }
  return [...values.values()]
}
