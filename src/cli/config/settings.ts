import type * as Interfaces from '@oclif/core/interfaces'
import { KlinesError } from '../../klines/errors.js'
import { variableOf } from '../flags/group.js'
import { type FlagValue, parseSetting, readSettings } from './defaults.js'
import { findConfigPath, readConfigFile, writeConfigFile } from './file.js'

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

/** Every value of an environment variable or the config file, by key, the strongest first. Throws `bad_config`. */
export async function listSettings(config: Interfaces.Config) {
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

/** Throws `bad_config`, and `output_unwritable`. */
export async function setSetting(
  config: Interfaces.Config,
  { key, value: text }: { readonly key: string; readonly value: string },
  warn: (text: string) => void,
) {
  const path = requirePath()
  const value = await parseSetting(config, key, text)
  writeConfigFile(path, { ...readConfigFile(path), [key]: value })
  const variable = variableOf(key)
  if (process.env[variable]) warn(`It has no effect here: ${variable} overrides it.`)
  return { path, key, value }
}

/** Also of a key that is not valid. Throws `bad_config` when the file lacks it, and `output_unwritable`. */
export function unsetSetting(key: string) {
  const path = requirePath()
  const { [key]: value, ...rest } = readConfigFile(path)
  if (value === undefined) {
    const suggestions = ['klines config lists every key.']
    throw new KlinesError('bad_config', `${path} does not set "${key}".`, { suggestions })
  }
  writeConfigFile(path, rest)
  return { path, key }
}

function requirePath(): string {
  const path = findConfigPath()
  if (path !== undefined) return path
  throw new KlinesError('bad_config', "The user's config file lies in the home folder, and this user has none.", {
    suggestions: ['Set HOME to the path of a folder.'],
  })
}
