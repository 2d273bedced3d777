import type * as Interfaces from '@oclif/core/interfaces'
import { isKlinesError, KlinesError } from '../../klines/errors.js'
import type { RunContext } from '../base-command.js'
import { listValues } from '../config/defaults.js'
import { configPaths, findConfigPath, readConfigFile, withoutKey, withValue, writeConfigFile } from '../config/file.js'
import { checkFolderKeys } from '../config/folder-file.js'
import { type CommandFlags, formatKey, loadCommands, parseKey } from '../config/keys.js'
import { formatValue, parseArgument, parseSetting, readConfigFiles, readSettings } from '../config/settings.js'
import { configReport } from '../reports/config.js'
import type { Report } from '../reports/report.js'
import type { ConfigObject, ConfigPathObject, ConfigSetObject, ConfigUnsetObject } from '../reports/schema.js'

/** `config`: every value of a config file or an environment variable. Throws `bad_config`. */
export async function runConfigList(config: Interfaces.Config): Promise<Report<ConfigObject>> {
  const commands = await loadCommands(config)
  const files = readConfigFiles()
  const values = await listValues(commands, await readSettings(commands, files))
  const exists = (path: string) => files.some(file => file.path === path)
  return configReport(
    values,
    configPaths().map(place => ({ ...place, exists: exists(place.path) })),
  )
}

/** `config path`: of the folder's file (`local`) or the user's. */
export function runConfigPath(local: boolean): Report<ConfigPathObject> {
  const { path } = findPath(local)
  return { json: { path }, text: () => path }
}

/** `config set`. Throws `bad_config`, and `output_unwritable`. */
export async function runConfigSet(
  config: Interfaces.Config,
  { key: text, value: argument }: { key: string; value: string },
  local: boolean,
  { warn }: RunContext,
): Promise<Report<ConfigSetObject>> {
  const place = findPath(local)
  const { path } = place
  const key = parseKey(text)
  const commands = await loadCommands(config)
  if (place.origin === 'folder') checkFolderKeys(commands, [key])
  const value = await parseSetting(commands, { ...key, ...place, value: argument }, parseArgument)
  writeConfigFile(place, withValue(readConfigFile(place) ?? {}, key, value))
  await warnOfStronger(commands, path, formatKey(key), warn)
  const done = `Set ${formatKey(key)} to ${formatValue(key.name, value)} in ${path}.`
  return { json: { path, key: formatKey(key), value }, text: () => done }
}

/** `config unset`. Throws `bad_config` when the file lacks the key, and `output_unwritable`. */
export function runConfigUnset(key: string, local: boolean): Report<ConfigUnsetObject> {
  const place = findPath(local)
  const { path } = place
  const object = withoutKey(readConfigFile(place) ?? {}, key)
  if (object === undefined) {
    const suggestions = [
      local ? "Without --local it is the user's file." : "--local is for the folder's file.",
      'klines config lists every key.',
    ]
    throw new KlinesError('bad_config', `${path} does not set "${key}".`, { suggestions })
  }
  writeConfigFile(place, object)
  return { json: { path, key }, text: () => `Removed ${key} from ${path}.` }
}

/** Warns when the value that was set has no effect, or when the files are not valid for another reason. */
async function warnOfStronger(
  commands: readonly CommandFlags[],
  path: string,
  key: string,
  warn: RunContext['warn'],
): Promise<void> {
  try {
    const values = await listValues(commands, await readSettings(commands, readConfigFiles()))
    const isOverridden = values.some(value => value.key === key && value.source === path && value.overridden)
    const stronger = values.find(value => value.key === key && !value.overridden)
    if (isOverridden) warn(`It has no effect here: ${stronger?.source ?? 'another value'} overrides it.`)
  } catch (error) {
    if (!isKlinesError(error, 'bad_config')) throw error
    warn(error.message)
  }
}

function findPath(local: boolean) {
  return findConfigPath(local ? 'folder' : 'user')
}
