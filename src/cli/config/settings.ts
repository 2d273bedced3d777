import { KlinesError } from '../../klines/errors.js'
import type { CommandFlags } from './commands.js'
import { type ConfigContent, readConfigFile } from './file.js'
import { type ConfigKey, findCommand, findFlags, formatKey } from './keys.js'
import { type ConfigPath, configPaths } from './paths.js'
import { describeValue, parseFirst, parseValue } from './values.js'

/** One value of a config file. */
export interface Setting extends ConfigKey, ConfigPath {
  /** As the file has it. */
  readonly value: unknown
}

/** A config file that exists. */
export interface ConfigFile extends ConfigPath {
  readonly object: ConfigContent
}

/** The config files that exist, the stronger one first. Throws `bad_config`. */
export function readConfigFiles(): ConfigFile[] {
  return configPaths().flatMap(place => {
    const object = readConfigFile(place.path)
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
      for (const [name, value] of Object.entries(object)) {
        const keys = isSection(value)
          ? Object.entries(value).map(([flag, inner]) => ({ command: name, name: flag, value: inner }))
          : [{ command: undefined, name, value }]
        if (isSection(value)) findCommand(commands, name)
        for (const key of keys) {
          await checkValue(commands, key, key.value)
          settings.push({ ...key, origin, path })
        }
      }
    })
  }
  return settings
}

/** Whether a value of a file holds the flags of a command. */
export function isSection(value: unknown): value is ConfigContent {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

async function checkValue(commands: readonly CommandFlags[], key: ConfigKey, value: unknown): Promise<void> {
  const flags = findFlags(commands, key)
  try {
    await parseFirst(flags, flag => parseValue(key.name, flag, value))
  } catch (error) {
    throw prefixed(`${formatKey(key)} is ${describeValue(key.name, value)}. `, error)
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

function prefixed(prefix: string, error: unknown): unknown {
  if (!(error instanceof KlinesError)) return error
  const { message, cause, suggestions } = error
  return new KlinesError('bad_config', `${prefix}${message}`, { cause, suggestions })
}
