import { COLUMNS, type Column } from '../candles/columns.js'
import { KlinesError } from '../candles/errors.js'
import { BINARY_FORMATS, FORMATS, type Format, isBinary, TEXT_FORMATS } from './formats.js'
import { checkValue, entriesOf, type FlagName, type Option, type OptionValue } from './option.js'

/** The columns that name the series of a row. */
export const SERIES_COLUMNS = ['symbol', 'interval'] as const
/** The columns of an export: the twelve of a row, and the series that the row belongs to. */
export const OUTPUT_COLUMNS = [...SERIES_COLUMNS, ...COLUMNS] as const
export type SeriesColumn = (typeof SERIES_COLUMNS)[number]

/** One of `OUTPUT_COLUMNS`. */
export type OutputColumn = SeriesColumn | Column

/** How text formats write times: ms or us since the epoch, s (with decimals where there are ms), or ISO 8601 in UTC. */
export const TIME_FORMATS = ['ms', 's', 'us', 'iso'] as const

/** One of `TIME_FORMATS`. */
export type TimeFormat = (typeof TIME_FORMATS)[number]

/** How Parquet and Arrow store decimals: nearest double, DECIMAL(38,8), or the source's text. */
export const NUMBER_TYPES = ['text', 'double', 'decimal'] as const

/** One of `NUMBER_TYPES`. */
export type NumberType = (typeof NUMBER_TYPES)[number]

/** How the pages of a Parquet file are compressed. */
export const COMPRESSIONS = ['zstd', 'gzip', 'snappy', 'none'] as const

/** One of `COMPRESSIONS`. */
export type Compression = (typeof COMPRESSIONS)[number]

/** What shapes the content of a file. A new option is an entry here, and the code that uses its value. */
export const OUTPUT_OPTIONS = {
  /** Names and order of the columns. Default: the twelve, after `symbol` and `interval` where series share a file. */
  columns: {
    takes: 'names',
    values: OUTPUT_COLUMNS,
    formats: FORMATS,
    group: 'how they are written',
    placeholder: 'NAMES',
    summary: 'Columns to write, in this order, separated by commas. Default: all.',
    description: `Names and order of the columns, joined by commas: some of ${OUTPUT_COLUMNS.join(', ')}. Default: all but symbol and interval`,
    example: 'open_time,open,high,low,close,volume',
  },
  /** Text formats only. Default `ms`. */
  timeFormat: {
    takes: 'choice',
    values: TIME_FORMATS,
    formats: TEXT_FORMATS,
    neutral: 'ms',
    refusal: format => `is for csv, json and jsonl; ${format} holds times as TIMESTAMP(ms, UTC).`,
    group: 'how they are written',
    placeholder: 'FORMAT',
    summary: 'Format of times in text formats. Default: ms.',
    description:
      'How text formats write times: since the epoch in ms, s or us, or ISO 8601 in UTC. Default: ms. Parquet and arrow have timestamps',
    example: 'ms',
  },
  /** Parquet and Arrow only. Default `double`. */
  numbers: {
    takes: 'choice',
    values: NUMBER_TYPES,
    formats: BINARY_FORMATS,
    neutral: 'text',
    refusal: format => `is for parquet and arrow; ${format} carries the text of the source untouched.`,
    group: 'how they are written',
    placeholder: 'TYPE',
    summary: 'Type of decimals in Parquet and Arrow. Default: double; decimal is exact.',
    description:
      'How parquet and arrow store decimals: the nearest double, DECIMAL(38,8), or text with all digits. Default: double. Text formats always have the digits of the source',
    example: 'text',
  },
  /** Parquet only; other formats accept `none`. Default `zstd` where Node has it (22.15 and later), else `gzip`. */
  compression: {
    takes: 'choice',
    values: COMPRESSIONS,
    formats: ['parquet'],
    neutral: 'none',
    refusal: format => `is for parquet; ${format} accepts only none.`,
    advice: format => (isBinary(format) ? undefined : 'A name that ends in .gz compresses a text format.'),
    group: 'how they are written',
    placeholder: 'NAME',
    summary: 'Compression of Parquet. Default: zstd with Node 22.15 or later, else gzip.',
    description:
      'Compression of parquet; other formats accept only none. Default: zstd where the Node of the server has it (22.15 and later), else gzip',
    example: 'none',
  },
} as const satisfies Readonly<Record<string, Option>>

type Options = typeof OUTPUT_OPTIONS
export type OutputOptionName = keyof Options

/** What shapes the content of a file, in a request of the library. */
export type OutputRequest = { readonly [Name in keyof Options]?: OptionValue<Options[Name]> | undefined }
/** The names of the options that apply to a format. */
export type OptionOf<F extends Format> = {
  [Name in OutputOptionName]: F extends Options[Name]['formats'][number] ? Name : never
}[OutputOptionName]
/** The same as flags and in a query. */
export type OutputFlagName = FlagName<OutputOptionName>

/** The entries of the table, with the names of their flags. */
export const OUTPUT_ENTRIES = entriesOf(OUTPUT_OPTIONS)

/** The entries of the options that apply to a format. */
export function entriesFor(format: Format): typeof OUTPUT_ENTRIES {
  return OUTPUT_ENTRIES.filter(({ option }) => isFor(option.formats, format))
}

/** The flags that a format cannot use. */
export function unusableFlags(format: Format): OutputFlagName[] {
  return OUTPUT_ENTRIES.filter(({ option }) => !isFor(option.formats, format)).map(({ flag }) => flag)
}

/** Of these values, those of the options that apply to a format. */
export function valuesFor<Values extends OutputRequest, F extends Format>(
  values: Values,
  format: F,
): Pick<Values, OptionOf<F>> {
  return Object.fromEntries(entriesFor(format).map(({ name }) => [name, values[name]])) as Pick<Values, OptionOf<F>>
}

/** Throws `bad_option` for a value that an option does not take, and for an option that the format cannot use: none is ignored. */
export function checkOutputRequest(request: OutputRequest, format: Format): void {
  for (const { name, flag, option } of OUTPUT_ENTRIES) {
    const value = request[name]
    if (value === undefined) continue
    const [isUsed, hasNeutral] = [isFor(option.formats, format), option.neutral !== undefined]
    if (isUsed || hasNeutral) checkValue(name, option, value)
    if (isUsed || (hasNeutral && value === option.neutral)) continue
    const given = hasNeutral && typeof value === 'string' ? `--${flag} ${value}` : `--${flag}`
    const advice = option.advice?.(format)
    throw new KlinesError('bad_option', `${given} ${option.refusal?.(format)}`, {
      suggestions: advice ? [advice] : [],
    })
  }
}

function isFor(formats: readonly Format[] | undefined, format: Format): boolean {
  return formats === undefined || formats.includes(format)
}
