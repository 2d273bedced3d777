import { dirname, relative, resolve, sep } from 'node:path'
import type * as Interfaces from '@oclif/core/interfaces'
import { SAMPLE, toSourceName } from '../../http/base-url.js'
import { cleanText } from '../../http/error-body.js'
import { KlinesError } from '../../klines/errors.js'
import { optionName } from '../../options/option.js'
import type { ConfigDefaults } from './defaults.js'
import { CONFIG_FILE } from './file.js'
import { REMOVING_COMMANDS } from './key-groups.js'
import { formatValue } from './settings.js'

/** The most characters of a file's value that a message shows. */
const MAX_VALUE = 200

/** What sets the flags of a command. */
interface FlagOrigins {
  readonly flags: Interfaces.FlagInput
  /** Of config files. */
  readonly defaults: ConfigDefaults
  /** The names of the flags on the command line; empty when it could not be parsed. */
  readonly given: ReadonlySet<string>
}

/** Which config files and environment variables set the values that an error is about: a line each. */
export function describeOrigins(error: Error, { flags, defaults, given }: FlagOrigins): string[] {
  const { message } = error
  const lines: string[] = []
  for (const [name, { setting, value }] of defaults) {
    const isShown = [value].flat().some(item => typeof item === 'string' && item.length > 1 && message.includes(item))
    if (!(error instanceof KlinesError) || given.has(name) || !(isNamed(name, message) || isShown)) continue
    lines.push(`${setting.path} sets ${name} to ${cleanText(formatValue(name, setting.value), MAX_VALUE)}.`)
  }
  for (const [name, { env: variable, type }] of Object.entries(flags)) {
    const value = variable && process.env[variable]
    if (!value || type === 'boolean' || given.has(name) || !isAbout(name, value, message)) continue
    lines.push(`${variable} sets ${name} to ${formatValue(name, value)}.`)
  }
  return lines
}

/** Also an error of a command line that could not be parsed: one that shows another value is not about the variable. */
function isAbout(name: string, value: string, message: string): boolean {
  const words = isNamed(name, message) ? message.split(/[\s=]+|\.(?=\s|$)/) : []
  // Messages quote what they cannot read, of a list the one item, and show paths as they are.
  const isQuoted = [value, ...value.split(',')].some(item => item !== 'all' && message.includes(`"${item}"`))
  return isQuoted || words.includes(value) || (value.includes('/') && message.includes(value))
}

/** Messages of the library name a flag by its option: `time-format` is `timeFormat`. */
function isNamed(name: string, message: string): boolean {
  return message.includes(`--${name}`) || message.includes(`\`${optionName(name)}`)
}

/**
 * `klines.config.json sets base-url http://127.0.0.1:8787 and mirror ./candles`, where a command takes them from the folder's file.
 * `isNamed`: whether the folder of the mirror is named. If not, and the command would remove a mirror that the file chooses by
 * its address alone, throws `bad_config`.
 */
export function describeFolderSources(
  command: string,
  { defaults, given, isNamed }: { defaults: ConfigDefaults; given: ReadonlySet<string>; isNamed: boolean },
): string | undefined {
  const find = (name: string) => {
    const found = given.has(name) ? undefined : defaults.get(name)
    return found?.setting.origin === 'folder' ? { text: String(found.value), path: found.setting.path } : undefined
  }
  const [address, mirror] = [find('base-url'), find('mirror')]
  if (address && !isNamed && REMOVING_COMMANDS.includes(command)) {
    const message = `${command} removes files, and the base-url of ${address.path} would choose the mirror.`
    const suggestions = ['Choose it on the command line: --base-url URL, or --mirror DIR.']
    throw new KlinesError('bad_config', message, { suggestions })
  }
  const parts = [
    // As it is requested: letters of other scripts can look like those of a known host.
    address && `base-url ${address.text === SAMPLE ? SAMPLE : toSourceName(address.text)}`,
    mirror && `mirror ${describeInside(dirname(mirror.path), mirror.text)}`,
  ].filter(part => part !== undefined)
  return parts.length === 0 ? undefined : `${CONFIG_FILE} sets ${parts.join(' and ')}`
}

/** `./candles`, or `.` for the folder itself. */
function describeInside(folder: string, text: string): string {
  const path = relative(folder, resolve(folder, text))
  return path === '' ? '.' : `.${sep}${path}`
}
