import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { INTERVALS } from '../../klines/intervals.js'
import { type CandleTableFlags, candleTableFlags } from './from-table.js'
import { inGroup } from './group.js'
import type { LocationFlags } from './location.js'

export const symbolArgs = {
  symbol: Args.string({
    description: "Trading pairs such as BTCUSDT or btc/usdt, quoted patterns such as '*USDT', or all.",
    multiple: true,
    required: true,
  }),
}

/** Of the commands that check a lock. */
export const { lock: lockFlag } = inGroup('what', {
  lock: Flags.string({
    summary: 'Lock file (klines lock) that says which series, ranges and source, in place of SYMBOL and -i.',
    helpValue: 'FILE',
    env: 'KLINES_LOCK',
  }),
})

/** What `orLock` changes. */
interface Selecting {
  args: typeof symbolArgs
  flags: { interval: typeof selectionFlags.interval }
  baseFlags: object
}

/** What a command parses: with --lock, nothing else has to say which candles. */
export function orLock<Command extends Selecting>(command: Command, argv: readonly string[]): Command {
  const isNamed = argv.some(word => word === '--lock' || word.startsWith('--lock='))
  if (!isNamed && !process.env.KLINES_LOCK) return command
  const { args, flags, baseFlags } = command
  const symbol = { ...args.symbol, required: false }
  const interval = { ...flags.interval, required: false }
  // The flags of all commands are inherited, and a copy has none of those.
  return { ...command, args: { symbol }, flags: { ...flags, interval }, baseFlags }
}

/** Of a command that shows all symbols by default. */
export const symbolFilterArgs = { symbol: Args.string({ description: 'Only these trading pairs.', multiple: true }) }

/** Which candles. */
export const selectionFlags = {
  ...inGroup('what', {
    interval: Flags.string({
      char: 'i',
      summary: `Candle lengths, repeated or separated by commas: ${INTERVALS.join(' ')}; all for these. From binance also 1m 3m 5m, which all does not download.`,
      helpValue: 'INTERVAL',
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
      required: true,
      env: 'KLINES_INTERVAL',
    }),
  }),
  from: candleTableFlags.from,
  to: candleTableFlags.to,
  last: candleTableFlags.last,
}

/** Of a command that shows all candles by default. */
export const { interval: intervalFilterFlag } = inGroup('what', {
  interval: Flags.string({
    char: 'i',
    summary: 'Only candles of these lengths, repeated or separated by commas. Default: all.',
    helpValue: 'INTERVAL',
    multiple: true,
    multipleNonGreedy: true,
    delimiter: ',',
    env: 'KLINES_INTERVAL',
  }),
})

/** Of the commands that write candles. */
export const { limit: limitFlag, tail: tailFlag } = candleTableFlags

export const { 'accept-list': acceptListFlag } = inGroup('what', {
  'accept-list': Flags.boolean({
    summary: 'Accept a list of windows even if entries known to exist are missing from it.',
    env: 'KLINES_ACCEPT_LIST',
  }),
})

/** Of the commands that print lists. */
export const { all: allDatesFlag } = inGroup('what', {
  all: Flags.boolean({ summary: 'Also windows that start later than today.', env: 'KLINES_ALL_DATES' }),
})

/** Of the commands that read a range. */
export const { 'fail-on-gaps': failOnGapsFlag } = inGroup('what', {
  'fail-on-gaps': Flags.boolean({
    summary: 'Exit code 3, and no export, when candles are missing in the range or at an end of it that is named.',
    env: 'KLINES_FAIL_ON_GAPS',
  }),
})

/** Of the commands that download candles. */
export const { 'fail-on-restated': failOnRestatedFlag } = inGroup('what', {
  'fail-on-restated': Flags.boolean({
    summary: 'Exit code 6, and no export, when the service has changed cached candles; the mirror keeps the old ones.',
    env: 'KLINES_FAIL_ON_RESTATED',
  }),
})
export const { yes: yesFlag } = inGroup('what', {
  yes: Flags.boolean({
    summary:
      'With binance, download a pattern that matches more than 20 symbols, or a range that takes more than 50,000 requests.',
    env: 'KLINES_YES',
  }),
})

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
export type RangeFlags = Pick<CandleTableFlags, 'from' | 'to' | 'last'>

/** What `mirrorSeriesFlags` and `locationFlags` parse to. */
export interface TableFlags extends LocationFlags {
  interval: string[]
  format?: string | undefined
}
