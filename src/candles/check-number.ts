import { KlinesError } from './errors.js'

/** A number of an option. Throws `bad_option` with its name and what was expected. */
export function checkNumber(
  name: string,
  value: number,
  isValid: (value: number) => boolean,
  expected: string,
): number {
  if (isValid(value)) return value
  throw new KlinesError('bad_option', `${name} is ${value}. Expected ${expected}.`)
}
