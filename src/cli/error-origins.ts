import type * as Interfaces from '@oclif/core/interfaces'
import { KlinesError } from '../klines/errors.js'
import { hideCredentials } from '../sources/base-url.js'
import { cleanText } from '../sources/error-body.js'
import type { ConfigDefaults } from './config/defaults.js'
import { findConfigPath } from './config/file.js'

/** The most characters of a value that a message shows. */
const MAX_VALUE = 200

/** What sets the flags of a command. */
interface FlagOrigins {
  readonly flags: Interfaces.FlagInput
  /** Of the config file. */
  readonly defaults: ConfigDefaults
  /** The names of the flags on the command line; empty when it could not be parsed. */
  readonly given: ReadonlySet<string>
}

/** Which values that an error is about an environment variable or the config file sets: a line each. */
export function describeOrigins(error: Error, { flags, defaults, given }: FlagOrigins): string[] {
  return Object.entries(flags).flatMap(([name, { env: variable, type, char }]) => {
    const isNamed = (message: string) =>
      message.includes(`--${name}`) || (char !== undefined && new RegExp(`(?:^|\\s)-${char}\\b`).test(message))
    const text = variable && process.env[variable]
    const value = formatValue(name, text || defaults.get(name) || '')
    if (value === '' || type === 'boolean' || given.has(name)) return []
    const isMeant = text ? isAbout(text, error.message, isNamed) : isAboutDefault(value, error, isNamed)
    return isMeant ? `${text ? variable : findConfigPath()} sets ${name} to ${cleanText(value, MAX_VALUE)}.` : []
  })
}

/** The command line was parsed when a default of the file is at fault. */
function isAboutDefault(value: string, error: Error, isNamed: (message: string) => boolean): boolean {
  const isShown = value.split(',').some(item => item.length > 1 && error.message.includes(item))
  return error instanceof KlinesError && (isShown || isNamed(error.message))
}

/** Also an error of a command line that could not be parsed: one that shows another value is not about the variable. */
function isAbout(value: string, message: string, isNamed: (message: string) => boolean): boolean {
  const words = isNamed(message) ? message.split(/[\s=]+|\.(?=\s|$)/) : []
  // Messages quote what they cannot read, of a list the one item, and show paths as they are.
  const isQuoted = [value, ...value.split(',')].some(item => item !== 'all' && message.includes(`"${item}"`))
  return isQuoted || words.includes(value) || (value.includes('/') && message.includes(value))
}

/** A value for a person, without passwords: `1h,1d`. */
export function formatValue(name: string, value: unknown): string {
  const text = [value].flat().map(String).join(',')
  return name === 'base-url' ? hideCredentials(text) : text
}
