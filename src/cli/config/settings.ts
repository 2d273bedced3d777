import { dirname } from 'node:path'
import { KlinesError } from '../../klines/errors.js'
import { isObject } from '../../klines/json.js'
import { printable } from '../terminal/text.js'
import { type ConfigContent, readConfigFile } from './file.js'
import { checkFolderKeys, checkFolderValue } from './folder-file.js'
import { type CommandFlags, type ConfigKey, type FlagDefinition, findCommand, findFlags, formatKey } from './keys.js'
import { type ConfigPath, configPaths } from './paths.js'
import { describeValue, type FlagValue, parseFirst, parseValue } from './values.js'

/** The most characters of the message about a file. */
const MAX_MESSAGE = 1_500

interface KeyValue extends ConfigKey {
  /** As the file has it. */
  readonly value: unknown
}

/** One value of a config file. */
export interface Setting extends KeyValue, ConfigPath {}

/** A config file that exists. */
export interface ConfigFile extends ConfigPath {
  readonly object: ConfigContent
}

/** The config files that exist, the stronger one first. Throws `bad_config`. */
export function readConfigFiles(): ConfigFile[] {
  return configPaths().flatMap(place => {
    const object = readConfigFile(place)
    return object === undefined ? [] : [{ ...place, object }]
  })
}

/** The values of config files, all checked. Throws `bad_config` with the file and the key. */
export async function readSettings(
  commands: readonly CommandFlags[],
  files: readonly ConfigFile[],
): Promise<Setting[]> {
  const settings: Setting[] = []
  for (const { object, origin, path } of files) {
    await inFile(path, async () => {
      const keys = toKeys(commands, object)
      if (origin === 'folder') checkFolderKeys(commands, keys)
      for (const key of keys) {
        const setting = { ...key, origin, path }
        await parseSetting(commands, setting)
        settings.push(setting)
      }
    })
  }
  return settings
}

/** The keys of a file and of its sections, with their values. Throws `bad_config` for the section of an unknown command. */
function toKeys(commands: readonly CommandFlags[], object: ConfigContent): KeyValue[] {
  return Object.entries(object).flatMap(([name, value]): KeyValue[] => {
    // A section holds the flags of a command.
    if (!isObject(value)) return [{ command: undefined, name, value }]
    findCommand(commands, name)
    return Object.entries(value).map(([flag, inner]) => ({ command: name, name: flag, value: inner }))
  })
}

/** The value of a setting. `parse`: of a value of JSON (default), or of an argument. Throws `bad_config` with the key. */
export async function parseSetting(
  commands: readonly CommandFlags[],
  setting: Setting,
  parse: (name: string, flag: FlagDefinition, value: unknown) => Promise<FlagValue> = parseValue,
): Promise<FlagValue> {
  const { name, value, origin, path } = setting
  const flags = findFlags(commands, setting)
  try {
    const parsed = await parseFirst(flags, flag => parse(name, flag, value))
    if (origin === 'folder') checkFolderValue(setting, parsed, dirname(path))
    return parsed
  } catch (error) {
    throw prefixed(`${formatKey(setting)} is ${describeValue(name, value)}. `, error)
  }
}

/** Names the file in the errors of `work`. */
async function inFile(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw prefixed(`${path}: `, error)
  }
}

/** With a text before its message. */
function prefixed(prefix: string, error: unknown): unknown {
  if (!(error instanceof KlinesError)) return error
  const { message, cause, suggestions } = error
  return new KlinesError('bad_config', toLine(`${prefix}${message}`), { cause, suggestions: suggestions.map(toLine) })
}

/** What can show a value of the file, as one line that is safe for a terminal, and not of a megabyte. */
function toLine(text: string): string {
  const line = printable(text)
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE)}...` : line
}
