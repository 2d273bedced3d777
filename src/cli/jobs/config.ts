import type * as Interfaces from '@oclif/core/interfaces'
import { KlinesError } from '../../klines/errors.js'
import type { RunContext } from '../base-command.js'
import { parseSetting, readSettings } from '../config/defaults.js'
import { findConfigPath, readConfigFile, writeConfigFile } from '../config/file.js'
import { formatValue } from '../error-origins.js'
import { variableOf } from '../flags/group.js'
import { type ConfigValue, configReport } from '../reports/config.js'
import type { Report } from '../reports/report.js'
import type { ConfigObject, ConfigSetObject, ConfigUnsetObject } from '../reports/schema.js'

/** `config`: every value of an environment variable or the config file. Throws `bad_config`. */
export async function runConfigList(config: Interfaces.Config): Promise<Report<ConfigObject>> {
  const path = findConfigPath()
  const variables = new Map<string, ConfigValue>()
  for (const command of config.commands) {
    for (const [key, { env: source }] of Object.entries(command.flags)) {
      const value = source && process.env[source]
      if (source && value) variables.set(source, { key, value, origin: 'environment', source, overridden: false })
    }
  }
  const settings = [...(await readSettings(config))].map(([key, value]): ConfigValue => {
    return { key, value, origin: 'user', source: String(path), overridden: Boolean(process.env[variableOf(key)]) }
  })
  // Sorting is stable: what overrides comes first.
  const values = [...variables.values(), ...settings].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  return configReport(values, path)
}

/** `config set`. Throws `bad_config`, and `output_unwritable`. */
export async function runConfigSet(
  config: Interfaces.Config,
  { key, value: argument }: { key: string; value: string },
  { warn }: RunContext,
): Promise<Report<ConfigSetObject>> {
  const path = requirePath()
  const value = await parseSetting(config, key, argument)
  writeConfigFile(path, { ...readConfigFile(path), [key]: value })
  const variable = variableOf(key)
  if (process.env[variable]) warn(`It has no effect here: ${variable} overrides it.`)
  return { json: { path, key, value }, text: () => `Set ${key} to ${formatValue(key, value)} in ${path}.` }
}

/** `config unset`: also of a key that is not valid. Throws `bad_config` when the file lacks it, and `output_unwritable`. */
export function runConfigUnset(key: string): Report<ConfigUnsetObject> {
  const path = requirePath()
  const { [key]: value, ...rest } = readConfigFile(path)
  if (value === undefined) {
    const suggestions = ['klines config lists every key.']
    throw new KlinesError('bad_config', `${path} does not set "${key}".`, { suggestions })
  }
  writeConfigFile(path, rest)
  return { json: { path, key }, text: () => `Removed ${key} from ${path}.` }
}

function requirePath(): string {
  const path = findConfigPath()
  if (path !== undefined) return path
  throw new KlinesError('bad_config', "The user's config file lies in the home folder, and this user has none.", {
    suggestions: ['Set HOME to the path of a folder.'],
  })
}
