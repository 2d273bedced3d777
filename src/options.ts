import { COLUMNS, type Column } from './candles/columns.js'
import { KlinesError } from './candles/errors.js'
import { isOneOf } from './candles/json.js'
import { quoteWord } from './candles/text.js'

export const TEXT_FORMATS = ['csv', 'json', 'jsonl'] as const
export const BINARY_FORMATS = ['parquet', 'arrow'] as const
/** The formats of an export. */
export const FORMATS = [...TEXT_FORMATS, ...BINARY_FORMATS] as const
/** One of `FORMATS`. */
export type Format = (typeof FORMATS)[number]

export const SERIES_COLUMNS = ['symbol', 'interval'] as const
export type SeriesColumn = (typeof SERIES_COLUMNS)[number]
/** The columns of an export: the twelve of a row, and the series that the row belongs to. */
export const OUTPUT_COLUMNS = [...SERIES_COLUMNS, ...COLUMNS] as const
export type OutputColumn = SeriesColumn | Column

/** How text formats write times: ms or us since the epoch, s (with decimals where there are ms), or ISO 8601 in UTC. */
export const TIME_FORMATS = ['ms', 's', 'us', 'iso'] as const
export type TimeFormat = (typeof TIME_FORMATS)[number]

/** How Parquet and Arrow store decimals: nearest double, DECIMAL(38,8), or the source's text. */
export const NUMBER_TYPES = ['text', 'double', 'decimal'] as const
export type NumberType = (typeof NUMBER_TYPES)[number]

/** How the pages of a Parquet file are compressed. */
export const COMPRESSIONS = ['zstd', 'gzip', 'snappy', 'none'] as const
export type Compression = (typeof COMPRESSIONS)[number]

/** An option, wherever it can be set: flag, variable, config file, query, library. */
export interface Option {
  /** One of some values, names joined by commas, a whole number, any text, or nothing. */
  readonly takes: 'choice' | 'names' | 'number' | 'text' | 'switch'
  /** All values of a choice, or the names to choose from, or examples. */
  readonly values?: readonly string[]
  readonly range?: { readonly min: number; readonly max: number }
  /** Of a number, such as `pixels`. */
  readonly unit?: string
  /** That it applies to. Default: all. */
  readonly formats?: readonly Format[]
  /** The value that says what other formats do anyway. */
  readonly neutral?: string
  /** Of `--help` and of the query. */
  readonly summary: string
  /** What stands for its value in `--help`; a switch has none. */
  readonly placeholder?: string
  /** Default: `output`. */
  readonly helpGroup?: 'range'
}

const COUNT = { takes: 'number', range: { min: 1, max: 1_000_000_000 }, unit: 'candles' } as const

/** Which candles a file or a report has. What uses the values checks them. */
export const CANDLE_OPTIONS = {
  from: {
    ...{ takes: 'text', values: ['today', 'yesterday', '-7d', '-30d'], placeholder: 'TIME', helpGroup: 'range' },
    summary:
      'First open time, UTC: 2024, 2024-01-31, 2024-01-31T12:00, now, today, yesterday, -7d or a Unix time. Default: the first candle.',
  },
  to: {
    ...{ takes: 'text', values: ['now', 'today', 'yesterday'], placeholder: 'TIME', helpGroup: 'range' },
    summary: 'End of the range, exclusive; same forms as --from. Default: now.',
  },
  last: {
    ...{ takes: 'text', values: ['7d', '30d', '90d', '1y'], placeholder: 'LENGTH', helpGroup: 'range' },
    summary: 'Length of the range before its end, instead of --from: 30m, 36h, 90d, 2w, 6M, 1y.',
  },
  resample: {
    ...{ takes: 'text', values: ['45m', '3h', '1d', '2d', '1w', '2w', '1M', '1q', '1y'], placeholder: 'LENGTH' },
    summary: 'Combine candles into longer ones: a number and m, h, d, w, M, q or y, such as 3h or 1q.',
  },
  partial: {
    takes: 'switch',
    summary: 'With --resample, keep the first and last candle even if incomplete.',
  },
  limit: {
    ...{ ...COUNT, values: ['20', '100', '1000'], placeholder: 'N', helpGroup: 'range' },
    summary: 'Write only the first N candles of each series.',
  },
  tail: {
    ...{ ...COUNT, values: ['20', '100', '1000'], placeholder: 'N', helpGroup: 'range' },
    summary: 'Write only the last N candles of each series.',
  },
} as const satisfies Readonly<Record<string, Option>>

/** What shapes the content of a file. */
export const OUTPUT_OPTIONS = {
  columns: {
    ...{ takes: 'names', values: OUTPUT_COLUMNS, formats: FORMATS, placeholder: 'NAMES' },
    summary: 'Columns to write, in this order, separated by commas. Default: all.',
  },
  timeFormat: {
    ...{ takes: 'choice', values: TIME_FORMATS, formats: TEXT_FORMATS, neutral: 'ms', placeholder: 'FORMAT' },
    summary: 'Format of times in text formats. Default: ms.',
  },
  numbers: {
    ...{ takes: 'choice', values: NUMBER_TYPES, formats: BINARY_FORMATS, neutral: 'text', placeholder: 'TYPE' },
    summary: 'Type of decimals in Parquet and Arrow. Default: double; decimal is exact.',
  },
  compression: {
    ...{ takes: 'choice', values: COMPRESSIONS, formats: ['parquet'], neutral: 'none', placeholder: 'NAME' },
    summary: 'Compression of Parquet. Default: zstd with Node 22.15 or later, else gzip.',
  },
} as const satisfies Readonly<Record<string, Option>>

type Options = typeof OUTPUT_OPTIONS
/** What an option takes, as the library has it. */
export type OptionValue<O extends Pick<Option, 'takes' | 'values'>> = O['takes'] extends 'switch'
  ? boolean
  : O['takes'] extends 'number'
    ? number
    : O['takes'] extends 'names'
      ? readonly NonNullable<O['values']>[number][]
      : O['takes'] extends 'choice'
        ? NonNullable<O['values']>[number]
        : string

/** What shapes the content of a file, in a request of the library. */
export type OutputRequest = { readonly [Name in keyof Options]?: OptionValue<Options[Name]> | undefined }

/** The names of the options that apply to a format. */
export type OptionOf<F extends Format> = {
  [Name in keyof Options]: F extends Options[Name]['formats'][number] ? Name : never
}[keyof Options]

/** `time-format` for `timeFormat`. */
export type FlagName<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `-${Lowercase<First>}`}${FlagName<Rest>}`
  : Name

function flagName<Name extends string>(name: Name): FlagName<Name> {
  return name.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`) as FlagName<Name>
}

function entriesOf<Name extends string>(table: Readonly<Record<Name, Option>>) {
  const entries = Object.entries(table) as [Name, Option][]
  return entries.map(([name, option]) => ({ name, flag: flagName(name), option }))
}

export const CANDLE_ENTRIES = entriesOf(CANDLE_OPTIONS)
export const OUTPUT_ENTRIES = entriesOf(OUTPUT_OPTIONS)

function isFor({ formats }: Option, format: Format): boolean {
  return formats === undefined || formats.includes(format)
}

export function unusableFlags(format: Format) {
  return OUTPUT_ENTRIES.filter(({ option }) => !isFor(option, format)).map(({ flag }) => flag)
}

/** Of these values, those of the options that apply to a format. */
export function valuesFor<Values extends OutputRequest, F extends Format>(
  values: Values,
  format: F,
): Pick<Values, OptionOf<F>> {
  const entries = OUTPUT_ENTRIES.filter(({ option }) => isFor(option, format))
  return Object.fromEntries(entries.map(({ name }) => [name, values[name]])) as Pick<Values, OptionOf<F>>
}

/** Throws `bad_option` for a value that an option does not take, and for an option that the format cannot use: none is ignored. */
export function checkOutputRequest(request: OutputRequest, format: Format): void {
  for (const { name, flag, option } of OUTPUT_ENTRIES) {
    const { [name]: value } = request
    const { formats = FORMATS, neutral } = option
    checkValue(name, option, value)
    if (value === undefined || isFor(option, format) || value === neutral) continue
    const names = formats.join(', ').replace(/, (\w+)$/, ' and $1')
    throw new KlinesError('bad_option', `--${flag} ${value} is for ${names}, not for ${format}.`)
  }
}

/** Throws `bad_option` unless an option takes a value. Names and texts are checked by what uses them. */
export function checkValue(name: string, option: Omit<Option, 'summary'>, value: unknown): void {
  const { takes, values = [], range = { min: 0, max: 0 }, unit } = option
  const fail = (expected: string, shown = `${value}`) => {
    throw new KlinesError('bad_option', `--${flagName(name)} is ${shown}. Expected ${expected}.`)
  }
  if (value === undefined) return
  if (takes === 'choice' && !isOneOf(values, value))
    fail(values.join(values.length === 2 ? ' or ' : ', '), `"${value}"`)
  const isInRange = Number.isInteger(value) && Number(value) >= range.min && Number(value) <= range.max
  if (takes === 'number' && !isInRange)
    fail(`a whole number${unit ? ` of ${unit}` : ''} from ${range.min} to ${range.max}`)
}

/** The value of an option in a query. Throws `bad_option`. */
export function parseValue(name: string, { takes, unit }: Option, text: string): string | number | boolean | string[] {
  const isSwitch = takes === 'switch'
  if (takes === 'names') return [text]
  if (takes === 'number' && /^\d{1,15}$/.test(text)) return Number(text)
  if (isSwitch && ['true', '', 'false'].includes(text)) return text !== 'false'
  if (takes !== 'number' && !isSwitch) return text
  const expected = isSwitch ? 'true or false' : `a whole number${unit ? ` of ${unit}` : ''}`
  throw new KlinesError('bad_option', `--${flagName(name)} is "${text}". Expected ${expected}.`)
}

export interface FileFormat {
  readonly format: Format
  readonly gzip: boolean
}

/** Unfit for a terminal, and compressed inside. */
export function isBinary(format: Format): boolean {
  return isOneOf(BINARY_FORMATS, format)
}

/** The format that an extension stands for, also before `.gz`. */
export function formatOfName(path: string): Format | undefined {
  const extension = /\.([^./\\]+)(?:\.gz)?$/i.exec(path)?.[1].toLowerCase() ?? ''
  if (extension === 'ndjson') return 'jsonl'
  if (extension === 'feather') return 'arrow'
  return isOneOf(FORMATS, extension) ? extension : undefined
}

/** The error for an output that is a folder. `format`: of the files of series that it may get. */
export function outputIsFolder(path: string, format?: string): KlinesError {
  const file = `${path.replace(/[/\\]+$/, '')}/{symbol}-{interval}.${format}`
  const suggestions = format ? [`Name a file in it: -o ${quoteWord(file)}`] : []
  return new KlinesError('bad_output', `${path} is a folder. Expected the name of a file.`, { suggestions })
}

/** What names of files end in. */
export const EXTENSIONS = '.csv, .json, .jsonl (also with .gz), .parquet or .arrow'

/**
 * The format of a file: `given`, else from the extension of its name; a further `.gz` compresses. `-` (stdout) is `json`.
 * Throws `bad_output` without either, and for a Parquet or Arrow file that would be compressed once more.
 */
export function resolveFormat(path: string, given: Format | undefined): FileFormat {
  if (path === '-') return { format: given ?? 'json', gzip: false }
  if (/[/\\]\.{0,2}$|^\.{1,2}$/.test(path)) throw outputIsFolder(path, given ?? 'csv')
  const gzip = /\.gz$/i.test(path)
  const format = given ?? formatOfName(path)
  if (format === undefined) {
    const ofPicture = 'Pictures are drawn by klines chart -o.'
    const advice = /\.svg(\.gz)?$/i.test(path) ? ofPicture : `Name the format with -f: ${FORMATS.join(', ')}.`
    const message = `The name ${path} has no known extension. Expected ${EXTENSIONS}.`
    throw new KlinesError('bad_output', message, { suggestions: [advice] })
  }
  if (!gzip || !isBinary(format)) return { format, gzip }
  const message = `${path}: ${format} files are compressed inside; a .gz around one would only hide it.`
  throw new KlinesError('bad_output', message, { suggestions: [`Did you mean ${path.replace(/\.gz$/i, '')}?`] })
}

/** Throws `bad_option` for an option that exports and rows do not have, such as a misspelt one. */
export function checkNames(request: object): void {
  const others =
    'symbols intervals output format force fingerprint failOnGaps threads as baseUrl mirror offline concurrency retries timeout refresh noArchive archiveUrl signal onEvent now'
  const names = [...Object.keys(CANDLE_OPTIONS), ...Object.keys(OUTPUT_OPTIONS), ...others.split(' ')]
  for (const name of Object.keys(request).filter(name => !names.includes(name)))
    throw new KlinesError('bad_option', `There is no option "${name}". Expected some of ${names.join(', ')}.`)
}
