import * as Args from '@oclif/core/args'
import { CLIError } from '@oclif/core/errors'
import * as Flags from '@oclif/core/flags'
import { FORMATS, type Format } from '../export/formats/format.js'
import { NUMBER_TYPES, type NumberType, TIME_FORMATS, type TimeFormat } from '../export/row-format.js'
import type { RequestLimits } from '../http/request-limits.js'
import { INTERVALS } from '../klines/intervals.js'
import { PROGRESS_MODES } from './terminal/progress-mode.js'

/** Arguments and flags that commands share. Each has an environment variable; a flag wins over it. */

/** The heading of the help under which flags are listed. */
type Group = 'what' | 'range' | 'output' | 'network' | 'appearance'

function inGroup<T extends Record<string, { helpGroup?: string }>>(group: Group, flags: T): T {
  for (const flag of Object.values(flags)) flag.helpGroup = group
  return flags
}

export const symbolArgs = {
  symbol: Args.string({
    description: "Trading pairs such as BTCUSDT or btc/usdt, quoted patterns such as '*USDT', or all.",
    multiple: true,
    required: true,
  }),
}

/** Where candles come from and where they are kept. */
export const locationFlags = inGroup('what', {
  'base-url': Flags.string({
    summary: 'Base address of the klines service, without /api; sample for the bundled synthetic sample data.',
    helpValue: 'URL',
    env: 'KLINES_BASE_URL',
  }),
  mirror: Flags.string({
    summary: 'Folder of the local mirror. Default: see klines mirror path.',
    helpValue: 'DIR',
    env: 'KLINES_MIRROR',
  }),
})

/** What `locationFlags` parse to. */
export interface LocationFlags {
  'base-url'?: string | undefined
  mirror?: string | undefined
}

const numberFlag = Flags.custom<number>({
  parse: async text => {
    const number = /^[+-]?(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : Number.NaN
    if (Number.isFinite(number)) return number
    throw new CLIError(`Expected a number but received: ${text}`)
  },
})

/** Limits for requests, of every command that makes some. */
export const networkFlags = inGroup('network', {
  retries: Flags.integer({
    summary: 'Retries of a failed request. Default: 5; 1 for lists and serve.',
    helpValue: 'N',
    env: 'KLINES_RETRIES',
  }),
  timeout: numberFlag({
    summary: 'Timeout of an attempt in seconds. Default: 30; 5 for lists and serve.',
    helpValue: 'SECONDS',
    env: 'KLINES_TIMEOUT',
  }),
  'max-rate': numberFlag({
    summary: 'Limit of requests per second, such as 5 or 0.5. Default: none.',
    helpValue: 'N',
    env: 'KLINES_MAX_RATE',
  }),
})

/** What `networkFlags` parse to. */
export interface NetworkFlags {
  retries?: number | undefined
  timeout?: number | undefined
  'max-rate'?: number | undefined
}

/** The options of `networkFlags`. */
export function toLimits({ retries, timeout, 'max-rate': maxRate }: NetworkFlags): RequestLimits {
  return { retries, timeout, maxRate }
}

/** How candles are downloaded. */
export const fetchFlags = inGroup('network', {
  concurrency: Flags.integer({
    summary: 'Number of parallel requests. Default: 16.',
    helpValue: 'N',
    env: 'KLINES_CONCURRENCY',
  }),
  refresh: Flags.boolean({ summary: 'Download every window again, even final ones.', env: 'KLINES_REFRESH' }),
  ...networkFlags,
})

/** Which candles. */
export const selectionFlags = {
  ...inGroup('what', {
    interval: Flags.string({
      char: 'i',
      summary: `Candle lengths, repeated or separated by commas: ${INTERVALS.join(' ')}; all for every length.`,
      helpValue: 'INTERVAL',
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
      required: true,
      env: 'KLINES_INTERVAL',
    }),
  }),
  ...inGroup('range', {
    from: Flags.string({
      summary:
        'First open time, UTC: 2024, 2024-01-31, 2024-01-31T12:00, now, today, yesterday, -7d or a Unix time. Default: the first candle.',
      helpValue: 'TIME',
      env: 'KLINES_FROM',
    }),
    to: Flags.string({
      summary: 'End of the range, exclusive; same forms as --from. Default: now.',
      helpValue: 'TIME',
      env: 'KLINES_TO',
    }),
    last: Flags.string({
      summary: 'Length of the range before its end, instead of --from: 36h, 90d, 2w, 6M, 1y.',
      helpValue: 'LENGTH',
      env: 'KLINES_LAST',
    }),
  }),
}

/** Which series of a mirror, and how the table is printed. */
export const mirrorSeriesFlags = {
  interval: selectionFlags.interval,
  ...inGroup('output', {
    format: Flags.option({
      char: 'f',
      summary: 'Format of the table. Default: text.',
      options: ['text', 'csv'] as const,
      helpValue: 'FORMAT',
      // KLINES_FORMAT is the format of candles.
      env: 'KLINES_TABLE_FORMAT',
    })(),
  }),
}

/** What the flags of a range parse to. */
export interface RangeFlags {
  from?: string | undefined
  to?: string | undefined
  last?: string | undefined
}

/** What `mirrorSeriesFlags` and `locationFlags` parse to. */
export interface TableFlags extends LocationFlags {
  interval: string[]
  format?: string | undefined
}

/** Which files are written, and how. */
export const outputFlags = inGroup('output', {
  output: Flags.string({
    char: 'o',
    summary: 'File to write; - for stdout. {symbol} and {interval} in the name are replaced.',
    helpValue: 'FILE',
    env: 'KLINES_OUTPUT',
  }),
  format: Flags.option({
    char: 'f',
    summary:
      'Output format. Default: inferred from the file extension; on stdout, CSV at a terminal and JSON otherwise.',
    options: FORMATS,
    helpValue: 'FORMAT',
    env: 'KLINES_FORMAT',
  })(),
  columns: Flags.string({
    summary: 'Columns to write, in this order, separated by commas. Default: all.',
    helpValue: 'NAMES',
    multiple: true,
    multipleNonGreedy: true,
    delimiter: ',',
    env: 'KLINES_COLUMNS',
  }),
  'time-format': Flags.option({
    summary: 'Format of times in text formats. Default: ms.',
    options: TIME_FORMATS,
    helpValue: 'FORMAT',
    env: 'KLINES_TIME_FORMAT',
  })(),
  numbers: Flags.option({
    summary: 'Type of decimals in Parquet and Arrow. Default: double; decimal is exact.',
    options: NUMBER_TYPES,
    helpValue: 'TYPE',
    env: 'KLINES_NUMBERS',
  })(),
  resample: Flags.string({
    summary: 'Combine candles into longer ones: a number and m, h, d, w, M, q or y, such as 3h or 1q.',
    helpValue: 'LENGTH',
    env: 'KLINES_RESAMPLE',
  }),
  partial: Flags.boolean({
    summary: 'With --resample, keep the first and last candle even if incomplete.',
    env: 'KLINES_PARTIAL',
  }),
  force: Flags.boolean({ summary: 'Overwrite existing files.', env: 'KLINES_FORCE' }),
  mkdir: Flags.boolean({ summary: 'Create missing folders of the output.', env: 'KLINES_MKDIR' }),
})

export const { progress: progressFlag, 'per-series': perSeriesFlag } = inGroup('appearance', {
  progress: Flags.option({
    summary: 'Progress on stderr: auto is a bar at a terminal, elsewhere a line every 15 s.',
    options: PROGRESS_MODES,
    helpValue: 'MODE',
    env: 'KLINES_PROGRESS',
  })(),
  'per-series': Flags.boolean({
    summary: 'Show a summary row for each series, even if there are more than 12.',
    env: 'KLINES_PER_SERIES',
  }),
})

export const { derive: deriveFlag } = inGroup('output', {
  derive: Flags.boolean({
    summary: 'Compute intervals that are not in the mirror from the finest one that is.',
    env: 'KLINES_DERIVE',
  }),
})

export const { 'accept-list': acceptListFlag } = inGroup('what', {
  'accept-list': Flags.boolean({
    summary: 'Accept a list of windows even if entries known to exist are missing from it.',
    env: 'KLINES_ACCEPT_LIST',
  }),
})

export const { 'dry-run': dryRunFlag } = inGroup('output', {
  'dry-run': Flags.boolean({
    summary: 'Show what would be downloaded and written, without doing it.',
    env: 'KLINES_DRY_RUN',
  }),
})

/** Which config file. */
export const localFlag = Flags.boolean({
  summary: "The file of the working folder, ./klines.config.json, instead of the user's.",
  env: 'KLINES_LOCAL',
})

/** The fields of a user update. */
export const userFlags = inGroup('what', {
  email: Flags.string({ summary: 'Email address.', helpValue: 'ADDRESS', env: 'KLINES_EMAIL' }),
  name: Flags.string({ summary: 'Full name.', helpValue: 'TEXT', env: 'KLINES_NAME' }),
  age: Flags.string({ summary: 'Age in years.', helpValue: 'YEARS', env: 'KLINES_AGE' }),
  notify: Flags.string({
    summary: 'Notification type, such as email, push or none.',
    helpValue: 'TYPE',
    env: 'KLINES_NOTIFY',
  }),
  data: Flags.string({
    summary: 'File with a JSON object of email and profile; - for stdin. Other flags override its fields.',
    helpValue: 'FILE',
    env: 'KLINES_DATA',
  }),
})

/** What `userFlags` parse to. */
export type UserFlags = { [name in keyof typeof userFlags]?: string | undefined }

/** How tokens are printed: their messages as one text, or an object a line. */
export const TOKEN_FORMATS = ['text', 'jsonl'] as const
export type TokenFormat = (typeof TOKEN_FORMATS)[number]

/** What the flags of `download` and `export` parse to. */
export interface JobFlags extends LocationFlags, NetworkFlags {
  interval: string[]
  from?: string | undefined
  to?: string | undefined
  last?: string | undefined
  concurrency?: number | undefined
  refresh?: boolean
  output?: string | undefined
  format?: Format | undefined
  columns?: string[] | undefined
  'time-format'?: TimeFormat | undefined
  numbers?: NumberType | undefined
  resample?: string | undefined
  partial?: boolean
  derive?: boolean
  'accept-list'?: boolean
  force: boolean
  mkdir?: boolean
  'dry-run': boolean
  'per-series'?: boolean
  json: boolean
  quiet: boolean
  verbose: boolean
}
