import { isInEnvironment, mergeSettings } from './defaults.js'
import { type CommandFlags, formatKey, isShared } from './keys.js'
import type { ConfigOrigin } from './paths.js'
import type { Setting } from './settings.js'

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
