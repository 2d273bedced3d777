import * as Args from '@oclif/core/args'
import { CLIError } from '@oclif/core/errors'
import * as Flags from '@oclif/core/flags'
import { GREETING_BASE_URL } from '../../candles/base-url.js'
import { INTERVALS, type Interval } from '../../candles/intervals.js'
import { candleTableFlags, inGroup, LIST, pathFlag, pick } from './group.js'

export const baseFlags = inGroup('appearance', {
  quiet: Flags.boolean({ char: 'q', summary: 'Print only data and errors.' }),
  verbose: Flags.boolean({ char: 'v', summary: 'Print more details.' }),
  json: Flags.boolean({ summary: 'Print one JSON object instead of text.' }),
})

/** Flags of several commands, each by itself: they `pick` theirs. */
export const runFlags = {
  ...inGroup('what', {
    'fail-on-gaps': Flags.boolean({
      summary: 'Exit code 3, and no export, when candles are missing in the range or at an end of it that is named.',
    }),
    'max-age': Flags.string({
      summary: 'Exit code 4 when the newest candle of an interval, of all series, closed longer ago: 36h, 2d.',
      helpValue: 'LENGTH',
    }),
  }),
  ...inGroup('output', {
    'dry-run': Flags.boolean({ summary: 'Show what would be downloaded and written, without doing it.' }),
    threads: Flags.integer({
      summary:
        'Threads that work at once, at most one for each file, series of a lake, or symbol to verify. Default: 1 below 2,000 windows, or 10,000 to verify, else one per core, at most 8 and one for each 100 MB of memory.',
      helpValue: 'N',
      min: 1,
      max: 256,
    }),
  }),
  ...inGroup('appearance', {
    'per-series': Flags.boolean({ summary: 'Show a summary row for each series, even if there are more than 12.' }),
  }),
}

export const numberFlag = Flags.custom<number>({
  parse: async text => {
    const number = Number(text)
    if (text.trim() !== '' && Number.isFinite(number)) return number
    throw new CLIError(`Expected a number but received: ${text}`)
  },
})

export const networkFlags = inGroup('network', {
  retries: Flags.integer({
    summary: 'Retries of a failed request. Default: 5; 1 for lists, serve, and chart with a mirror.',
    helpValue: 'N',
  }),
  timeout: numberFlag({
    summary: 'Timeout of an attempt in seconds. Default: 30; 5 for lists, serve, and chart with a mirror.',
    helpValue: 'SECONDS',
  }),
})

export const fetchFlags = inGroup('network', {
  concurrency: Flags.integer({
    summary: 'Number of parallel requests. Default: 16; 4 for the exchange.',
    helpValue: 'N',
    min: 1,
    max: 256,
  }),
  refresh: Flags.boolean({ summary: 'Download every window again, even final ones.' }),
  'no-archive': Flags.boolean({
    summary: 'Take no month of 1m, 3m or 5m candles from the archive of the exchange, but all from its API.',
  }),
  'archive-url': Flags.string({
    summary:
      'Another archive. Default: https://data.binance.vision with binance and binance-usdm, none with another host.',
    helpValue: 'URL',
  }),
  ...networkFlags,
})

export const symbolArgs = {
  symbol: Args.string({
    description: "Trading pairs such as BTCUSDT or btc/usdt, quoted patterns such as '*USDT', or all.",
    multiple: true,
    required: true,
  }),
}

/** Text, which the library checks, because it may be `all`. */
const INTERVAL = { char: 'i', aliases: ['timeframe'] as string[], helpValue: 'INTERVAL', ...LIST } as const

export const rangeFlags = pick(candleTableFlags, 'from', 'to', 'last')

export const selectionFlags = {
  ...inGroup('what', {
    interval: Flags.custom<Interval>()({
      ...INTERVAL,
      summary: `Candle lengths, repeated or separated by commas: ${INTERVALS.join(' ')}; all for these. From binance also 1m 3m 5m, which all does not download.`,
      required: true,
    }),
  }),
  ...rangeFlags,
}

/** `-i` of a command that does not need it, with what it does without. */
export function intervalFlag(summary: string) {
  return inGroup('what', { interval: Flags.custom<Interval>()({ ...INTERVAL, summary }) })
}

export const lockFlag = inGroup('what', {
  lock: pathFlag({
    summary: 'Lock file (klines lock) that says which series, ranges and source, in place of SYMBOL and -i.',
    helpValue: 'FILE',
  }),
})

export const locationFlags = inGroup('what', {
  'base-url': Flags.string({
    summary:
      'Base address of the klines service, without /api; binance for the exchange, binance-usdm for its futures (either also :URL, another host), sample for synthetic sample data.',
    helpValue: 'URL',
  }),
  mirror: pathFlag({
    summary: 'Folder of the local mirror. Default: see klines mirror.',
    helpValue: 'DIR',
  }),
})

/** The address of a server that has the greeting API. */
export function addressFlag(server: string) {
  return Flags.string({
    helpGroup: 'what',
    summary: `Base address of ${server}, without /api. Default: ${GREETING_BASE_URL}.`,
    helpValue: 'URL',
    // KLINES_BASE_URL is the address of the klines service.
    env: 'KLINES_GREETING_URL',
  })
}
