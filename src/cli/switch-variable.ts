import { KlinesError } from '../candles/errors.js'
import { cleanText } from '../sources/error-body.js'

const ON = ['1', 'true', 'yes', 'y', 'on']
const OFF = ['0', 'false', 'no', 'n', 'off']

/**
 * What the environment says for a flag without a value; undefined when the variable is missing or empty. Case does not matter.
 * Throws `bad_option` for any other value: taken for "off", it would turn off a check without a word.
 */
export function readSwitch(variable: string): boolean | undefined {
  const value = process.env[variable] ?? ''
  if (value === '') return undefined
  if (isOn(variable)) return true
  if (OFF.includes(value.toLowerCase())) return false
  const message = `${variable} is "${cleanText(value, 100)}". Expected one of ${ON.join(', ')}, or of ${OFF.join(', ')}.`
  throw new KlinesError('bad_option', message, {
    suggestions: [`Without a value it is as if it were not set: ${variable}=`],
  })
}

/** Whether a variable turns something on; an unknown value does not. Never throws. */
export function isOn(variable: string): boolean {
  return ON.includes((process.env[variable] ?? '').toLowerCase())
}
