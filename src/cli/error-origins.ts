import type * as Interfaces from '@oclif/core/interfaces'
import { KlinesError } from '../candles/errors.js'
import { hideCredentials } from '../sources/base-url.js'
import { cleanText } from '../sources/error-body.js'
import type { ConfigDefaults } from './config/defaults.js'
import { findConfigPath } from './config/file.js'

/** The most characters of a value that a message shows. */
const MAX_VALUE = 200

/**
 * Which values that an error is about an environment variable or the config file (`defaults`) sets: a line each. `given`: the flags on the
 * command line.
 */
export function describeOrigins(
  error: Error,
  flags: Interfaces.FlagInput,
  defaults: ConfigDefaults,
  given: ReadonlySet<string>,
): string[] {
  const { message } = error
  return Object.entries(flags).flatMap(([name, { env: variable, type, char }]) => {
    const set = variable && process.env[variable]
    const value = formatValue(name, set || defaults.get(name) || '')
    if (value === '' || type === 'boolean' || given.has(name)) return []
    const isNamed =
      message.includes(`--${name}`) || (char !== undefined && new RegExp(`(?:^|\\s)-${char}\\b`).test(message))
    const items = value.split(',')
    // The command line could be read when a default of the file is at fault. An error that shows another value is not about a variable.
    const isMeant = set
      ? shows(message, [set, ...items]) || (isNamed && message.split(/[\s=]+|\.(?=\s|$)/).includes(set))
      : error instanceof KlinesError && (isNamed || items.some(item => item.length > 1 && message.includes(item)))
    return isMeant ? `${set ? variable : findConfigPath()} sets ${name} to ${cleanText(value, MAX_VALUE)}.` : []
  })
}

/** Messages quote what they cannot read, of a list the one item, and show paths as they are. */
function shows(message: string, values: readonly string[]): boolean {
  const [whole] = values
  if (whole.includes('/') && message.includes(whole)) return true
  return values.some(value => value !== 'all' && message.includes(`"${value}"`))
}

/** A value for a person, without passwords: `1h,1d`. */
export function formatValue(name: string, value: unknown): string {
  const text = [value].flat().map(String).join(',')
  return name === 'base-url' ? hideCredentials(text) : text
}
