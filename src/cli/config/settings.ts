import { dirname } from 'node:path'
import * as Errors from '@oclif/core/errors'
import { parseSelectionText } from '../../download/selection.js'
import { parseConcurrency } from '../../download/sources/open-source.js'
import { parseColumns } from '../../export/row-format.js'
import { hideCredentials, SAMPLE, toSourceName } from '../../http/base-url.js'
import { cleanText, cleanValue } from '../../http/error-body.js'
import { checkLimits } from '../../http/retry.js'
import { KlinesError } from '../../klines/errors.js'
import { isObject } from '../../klines/json.js'
import { parseTargetInterval } from '../../klines/resample/target-interval.js'
import { parseInstant, timeBefore } from '../../klines/time-range.js'
import { parseThreads } from '../../threads/thread-count.js'
import { printable } from '../terminal/text.js'
import { type ConfigContent, type ConfigPath, configPaths, readConfigFile } from './file.js'
import { checkFolderKeys, checkFolderValue } from './folder-file.js'
import { type CommandFlags, type ConfigKey, type FlagDefinition, findCommand, findFlags, formatKey } from './keys.js'

/** The value of a flag as oclif parses it. */
export type FlagValue = boolean | string | number | readonly (string | number)[]

/** What a command checks after its flags are parsed: checked here, an error names the file and the key. Each throws. */
const CHECKS: Readonly<Record<string, (text: string) => unknown>> = {
  interval: text => parseSelectionText('all', [text]),
  columns: text => parseColumns([text]),
  from: text => parseInstant(text, Date.now()),
  to: text => parseInstant(text, Date.now()),
  last: text => timeBefore(Date.now(), text),
  resample: parseTargetInterval,
  concurrency: text => expectNumber(() => parseConcurrency(Number(text))),
  threads: text => expectNumber(() => parseThreads({ threads: Number(text) })),
  retries: text => expectNumber(() => checkLimits({ retries: Number(text) })),
  timeout: text => expectNumber(() => checkLimits({ timeout: Number(text) })),
  'max-rate': text => expectNumber(() => checkLimits({ maxRate: Number(text) })),
  'base-url': text => {
    if (hideCredentials(text) !== text) {
      throw expected('an address without a user name or password, which would be stored')
    }
    if (text !== SAMPLE) toSourceName(text)
  },
}

/** The value of a flag from a value of JSON. Throws `bad_config`, with a message of what is expected, and what a check throws. */
export async function parseValue(name: string, flag: FlagDefinition, value: unknown): Promise<FlagValue> {
  if (flag.type === 'boolean') {
    if (typeof value === 'boolean') return value
    throw expected('true or false')
  }
  const values: (string | number)[] = []
  for (const text of toTexts(flag, value)) values.push(await parseText(name, flag, text))
  return flag.multiple ? values : values[0]
}

/** What a file stores for a value of the command line: `8` for an integer, an array for a list. Throws as `parseValue` does. */
export async function parseArgument(name: string, flag: FlagDefinition, text: unknown): Promise<FlagValue> {
  const isBoolean = flag.type === 'boolean' && (text === 'true' || text === 'false')
  return parseValue(name, flag, isBoolean ? text === 'true' : text)
}

/** The value that the first flag accepts. Throws what the first flag throws when none accepts it. */
async function parseFirst(
  flags: readonly FlagDefinition[],
  parse: (flag: FlagDefinition) => Promise<FlagValue>,
): Promise<FlagValue> {
  const errors: unknown[] = []
  for (const flag of flags) {
    try {
      return await parse(flag)
    } catch (error) {
      errors.push(error)
    }
  }
  throw errors[0]
}

/** A value for a person, without passwords: `1h,1d`. */
export function formatValue(name: string, value: unknown): string {
  const text = [value].flat().map(String).join(',')
  return name === 'base-url' ? hideCredentials(text) : text
}

/** A value of JSON in an error, without passwords: `"1h"`. */
function describeValue(name: string, value: unknown): string {
  const shown = name === 'base-url' && typeof value === 'string' ? hideCredentials(value) : value
  return typeof shown === 'string' ? cleanText(JSON.stringify(shown), 100) : cleanValue(shown, 100)
}

function toTexts(flag: FlagDefinition & { type: 'option' }, value: unknown): string[] {
  const values = flag.multiple && Array.isArray(value) ? value : [value]
  const texts = values.flatMap(item => {
    if (typeof item === 'number') return [String(item)]
    if (typeof item !== 'string') return ['']
    return flag.multiple && flag.delimiter ? item.split(flag.delimiter).map(part => part.trim()) : [item]
  })
  if (texts.length > 0 && !texts.includes('')) return texts
  throw expected(flag.options ? listChoices(flag.options) : flag.multiple ? 'a list of texts' : 'a text or a number')
}

async function parseText(name: string, flag: FlagDefinition & { type: 'option' }, text: string) {
  if (flag.options && !flag.options.includes(text)) throw expected(listChoices(flag.options))
  try {
    const value = (await flag.parse(text, {} as never, flag as never)) as string | number
    CHECKS[name]?.(text)
    return value
  } catch (error) {
    if (!(error instanceof Errors.CLIError)) throw error
    throw new KlinesError('bad_config', `${error.message.replace(/ but received: .*/s, '')}.`, { cause: error })
  }
}

function listChoices(options: readonly string[]): string {
  return `one of ${options.join(', ')}`
}

/** The message of a check begins with the value, which the error of a config file names anyway. */
function expectNumber(check: () => void): void {
  try {
    check()
  } catch (error) {
    throw new KlinesError('bad_config', (error as Error).message.replace(/^`\w+` is \S+\. /, ''))
  }
}

function expected(what: string): KlinesError {
  return new KlinesError('bad_config', `Expected ${what}.`)
}

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
