import { KlinesError } from '../candles/errors.js'
import { isOneOf } from '../candles/json.js'
import type { Format } from './formats.js'

/** What an option is about. */
export type OptionGroup = 'which candles' | 'how they are written'

/** What an option is, wherever it can be set: as a flag, in the environment, in the config file, in a query, or in the library. */
export interface Option {
  /** What it takes: one of some values, names joined by commas, a whole number, any text, or nothing. */
  readonly takes: 'choice' | 'names' | 'number' | 'text' | 'switch'
  /** All values of a choice, the names to choose from, and examples of a text. */
  readonly values?: readonly string[]
  /** The smallest and the largest number. */
  readonly range?: { readonly min: number; readonly max: number }
  /** Of a number, such as `pixels`. */
  readonly unit?: string
  /** The formats of files that it applies to. Default: all. */
  readonly formats?: readonly Format[]
  /** The value that says what other formats do anyway. */
  readonly neutral?: string
  /** Why another format cannot use it: follows the name of the option. */
  readonly refusal?: (format: Format) => string
  /** What another format's user might want instead: one sentence. */
  readonly advice?: (format: Format) => string | undefined
  /** The sentences of `--help`, which say the default. */
  readonly summary: string
  /** What stands for its value in `--help`; a switch has none. */
  readonly placeholder?: string
  readonly group: OptionGroup
  /** The heading of `--help` under which it stands. Default: `output`. */
  readonly helpGroup?: 'range'
  /** How the query of an export describes it. Default: as `--help` does. */
  readonly description?: string
  /** A value that fits those of the other options: the page of the API sends all of them. */
  readonly example?: string | boolean
}

/** What an option takes, as the library has it. `names`: the names themselves. */
export type OptionValue<O extends Pick<Option, 'takes' | 'values'>> = O['takes'] extends 'switch'
  ? boolean
  : O['takes'] extends 'number'
    ? number
    : O['takes'] extends 'names'
      ? readonly NonNullable<O['values']>[number][]
      : O['takes'] extends 'choice'
        ? NonNullable<O['values']>[number]
        : string

/** The name of an option of the library as a flag and in a query: `time-format`. */
export type FlagName<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `-${Lowercase<First>}`}${FlagName<Rest>}`
  : Name

/** `timeFormat` as `time-format`. */
export function flagName(name: string): string {
  return name.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
}

/** An option of a table, with the name of its flag. */
export interface OptionEntry<Name extends string = string> {
  readonly name: Name
  readonly flag: FlagName<Name>
  readonly option: Option
}

/** The options of a table, in its order. */
export function entriesOf<Name extends string>(table: Readonly<Record<Name, Option>>): OptionEntry<Name>[] {
  return Object.entries<Option>(table).map(([name, option]) => {
    return { name: name as Name, flag: flagName(name) as FlagName<Name>, option }
  })
}

/** Throws `bad_option` unless a value is one that an option of the library takes. Names and texts are checked by what uses them. */
export function checkValue(
  name: string,
  { takes, values = [], range, unit }: Pick<Option, 'takes' | 'values' | 'range' | 'unit'>,
  value: unknown,
): void {
  if (value === undefined) return
  if (takes === 'choice' && !isOneOf(values, value)) {
    const expected = values.join(values.length === 2 ? ' or ' : ', ')
    throw new KlinesError('bad_option', `--${flagName(name)} is "${value}". Expected ${expected}.`)
  }
  if (takes !== 'number' || range === undefined) return
  if (Number.isInteger(value) && Number(value) >= range.min && Number(value) <= range.max) return
  const what = unit === undefined ? 'a whole number' : `a whole number of ${unit}`
  throw new KlinesError(
    'bad_option',
    `--${flagName(name)} is ${value}. Expected ${what} from ${range.min} to ${range.max}.`,
  )
}

/** The value of an option in a text, such as that of a query. Throws `bad_option` for a text that stands for none. */
export function parseValue(
  name: string,
  { takes, unit }: Pick<Option, 'takes' | 'unit'>,
  text: string,
): string | number | boolean | string[] {
  if (takes === 'names') return [text]
  if (takes === 'number') {
    if (/^\d{1,15}$/.test(text)) return Number(text)
    const what = unit === undefined ? 'a whole number' : `a whole number of ${unit}`
    throw new KlinesError('bad_option', `--${flagName(name)} is "${text}". Expected ${what}.`)
  }
  if (takes !== 'switch') return text
  if (text === 'true' || text === '') return true
  if (text === 'false') return false
  throw new KlinesError('bad_option', `--${flagName(name)} is "${text}". Expected true or false.`)
}
