import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { FORMATS, type Format } from '../export/formats/format.js'
import { NUMBER_TYPES, type NumberType, TIME_FORMATS, type TimeFormat } from '../export/row-format.js'
import { INTERVALS } from '../klines/intervals.js'
import { PROGRESS_MODES } from './terminal/progress-mode.js'

/** Arguments and flags that commands share. Each has an environment variable; a flag wins over it. */

export const symbolArgs = {
  symbol: Args.string({
    description: 'Trading pairs such as BTCUSDT, btcusdt or BTC/USDT, or all.',
    multiple: true,
    required: true,
  }),
}

/** Where candles come from and where they are kept. */
const baseUrlFlag = Flags.string({
  summary: 'Base address of the klines service, the part before /api; sample serves made candles without a network.',
  helpValue: 'URL',
  env: 'KLINES_BASE_URL',
})

const mirrorFlag = Flags.string({
  summary: 'Folder of the mirror. Default: one a base address under the cache folder (klines mirror path).',
  helpValue: 'DIR',
  env: 'KLINES_MIRROR',
})

export const locationFlags = { 'base-url': baseUrlFlag, mirror: mirrorFlag }

/** What `locationFlags` parse to. */
export interface LocationFlags {
  'base-url'?: string | undefined
  mirror?: string | undefined
}

/** How candles are downloaded. */
export const fetchFlags = {
  concurrency: Flags.integer({ summary: 'Requests at once. Default 16.', helpValue: 'N', env: 'KLINES_CONCURRENCY' }),
  refresh: Flags.boolean({ summary: 'Ask again for final windows too.', env: 'KLINES_REFRESH' }),
}

/** Which candles. */
export const selectionFlags = {
  interval: Flags.string({
    char: 'i',
    summary: `Candle lengths, repeated or joined by commas, or all: ${INTERVALS.join(' ')}.`,
    helpValue: 'INTERVAL',
    multiple: true,
    multipleNonGreedy: true,
    delimiter: ',',
    required: true,
    env: 'KLINES_INTERVAL',
  }),
  from: Flags.string({
    summary: 'First open time: YYYY, YYYY-MM, YYYY-MM-DD or an ISO instant; UTC. Default: the beginning.',
    helpValue: 'TIME',
    env: 'KLINES_FROM',
  }),
  to: Flags.string({
    summary: 'End of open times, itself left out. Default: the present.',
    helpValue: 'TIME',
    env: 'KLINES_TO',
  }),
  last: Flags.string({
    summary: 'Instead of --from: this long before the end, such as 90d (h, d, w, M, y).',
    helpValue: 'LENGTH',
    env: 'KLINES_LAST',
  }),
}

/** Which series of a mirror, and how the table is printed. */
export const mirrorSeriesFlags = {
  interval: selectionFlags.interval,
  format: Flags.option({
    char: 'f',
    summary: 'The table as text or as CSV. Default text.',
    options: ['text', 'csv'] as const,
    // KLINES_FORMAT is the format of candles.
    env: 'KLINES_TABLE_FORMAT',
  })(),
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
export const outputFlags = {
  output: Flags.string({
    char: 'o',
    summary: 'File to write, {symbol} and {interval} filled in; - for stdout. The ending tells the format.',
    helpValue: 'FILE',
    env: 'KLINES_OUTPUT',
  }),
  format: Flags.option({
    char: 'f',
    summary: 'Format, whatever the ending; without -o to stdout.',
    options: FORMATS,
    env: 'KLINES_FORMAT',
  })(),
  columns: Flags.string({
    summary: 'Columns and their order, joined by commas. Default: all twelve.',
    helpValue: 'NAMES',
    multiple: true,
    multipleNonGreedy: true,
    delimiter: ',',
    env: 'KLINES_COLUMNS',
  }),
  'time-format': Flags.option({
    summary: 'Times in text formats. Default ms.',
    options: TIME_FORMATS,
    env: 'KLINES_TIME_FORMAT',
  })(),
  numbers: Flags.option({
    summary: 'Decimals in parquet and arrow. Default double; decimal is exact.',
    options: NUMBER_TYPES,
    env: 'KLINES_NUMBERS',
  })(),
  resample: Flags.string({
    summary:
      'Make longer candles of those asked for: a number and m, h, d, w, M, q or y. Aligned as the exchange does: weeks on Mondays, 3d from the listing, months, quarters and years by the calendar; others from 1970-01-01.',
    helpValue: 'INTERVAL',
    env: 'KLINES_RESAMPLE',
  }),
  partial: Flags.boolean({
    summary: 'With --resample: keep candles at either end that are covered in part only.',
    env: 'KLINES_PARTIAL',
  }),
  force: Flags.boolean({ summary: 'Replace files that exist.', env: 'KLINES_FORCE' }),
}

export const progressFlag = Flags.option({
  summary: 'Progress on stderr: auto is a bar at a terminal and a line every 15 seconds elsewhere.',
  options: PROGRESS_MODES,
  env: 'KLINES_PROGRESS',
})()

export const perSeriesFlag = Flags.boolean({
  summary: 'Summary with a row for each series, also for more than 12.',
  env: 'KLINES_PER_SERIES',
})

export const deriveFlag = Flags.boolean({
  summary: 'Make an interval that is not in the mirror of the finest one that is.',
  env: 'KLINES_DERIVE',
})

export const acceptListFlag = Flags.boolean({
  summary: 'Take a list as it is although it lacks entries that are known to exist.',
  env: 'KLINES_ACCEPT_LIST',
})

export const dryRunFlag = Flags.boolean({
  summary: 'Say what would be asked for and written, and do nothing.',
  env: 'KLINES_DRY_RUN',
})

/** Which config file. */
export const localFlag = Flags.boolean({
  summary: "The file of the working folder, ./klines.config.json, instead of the user's.",
  env: 'KLINES_LOCAL',
})

/** The fields of a user update. */
export const userFlags = {
  email: Flags.string({ summary: 'E-mail address.', helpValue: 'ADDRESS', env: 'KLINES_EMAIL' }),
  name: Flags.string({ summary: 'Full name.', helpValue: 'TEXT', env: 'KLINES_NAME' }),
  age: Flags.string({ summary: 'Age, a number.', helpValue: 'YEARS', env: 'KLINES_AGE' }),
  notify: Flags.string({
    summary: 'How the user is to be notified, such as email, push or none.',
    helpValue: 'TYPE',
    env: 'KLINES_NOTIFY',
  }),
  data: Flags.string({
    summary: 'JSON object with email and profile, from a file or - for stdin; the other flags win over it.',
    helpValue: 'FILE',
    env: 'KLINES_DATA',
  }),
}

/** What `userFlags` parse to. */
export type UserFlags = { [name in keyof typeof userFlags]?: string | undefined }

/** How tokens are printed: their messages as one text, or an object a line. */
export const TOKEN_FORMATS = ['text', 'jsonl'] as const
export type TokenFormat = (typeof TOKEN_FORMATS)[number]

/** What the flags of `download` and `export` parse to. */
export interface JobFlags extends LocationFlags {
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
  'dry-run': boolean
  'per-series'?: boolean
  json: boolean
  quiet: boolean
  verbose: boolean
}
