import type * as Interfaces from '@oclif/core/interfaces'
import { readSwitch } from '../switch-variable.js'
import { formatId } from '../usage.js'
import { type CommandFlags, type FlagDefinition, isShared, loadCommands, takesDefaults } from './keys.js'
import { readConfigFiles, readSettings, type Setting } from './settings.js'
import { type FlagValue, parseValue } from './values.js'

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
export function isInEnvironment({ env: variable }: FlagDefinition, env: NodeJS.ProcessEnv): boolean {
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

/** The defaults that config files set for a command of oclif. Throws `bad_config`. */
export async function findDefaults(config: Interfaces.Config, id: string | undefined): Promise<ConfigDefaults> {
  const files = takesDefaults(id) ? readConfigFiles() : []
  if (files.length === 0 || id === undefined) return new Map()
  const commands = await loadCommands(config)
  const command = commands.find(({ name }) => name === formatId(id))
  return command ? mergeSettings(command, await readSettings(commands, files)) : new Map()
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
