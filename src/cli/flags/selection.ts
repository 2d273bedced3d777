import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { INTERVALS } from '../../klines/intervals.js'
import { candleTableFlags } from './from-table.js'
import { type FlagsOf, inGroup, pick } from './group.js'
import type { LocationFlags } from './service.js'

export const symbolArgs = {
  symbol: Args.string({
    description: "Trading pairs such as BTCUSDT or btc/usdt, quoted patterns such as '*USDT', or all.",
    multiple: true,
    required: true,
  }),
}

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

/** `-i`: intervals, repeated or joined by commas. */
const INTERVALS_FLAG = {
  char: 'i',
  aliases: ['timeframe'] as string[],
  helpValue: 'INTERVAL',
  multiple: true,
  multipleNonGreedy: true,
  delimiter: ',',
} as const

/** Which time. */
export const rangeFlags = pick(candleTableFlags, 'from', 'to', 'last')

/** Which candles. */
export const selectionFlags = {
  ...inGroup('what', {
    interval: Flags.string({
      ...INTERVALS_FLAG,
      summary: `Candle lengths, repeated or separated by commas: ${INTERVALS.join(' ')}; all for these. From binance also 1m 3m 5m, which all does not download.`,
      required: true,
    }),
  }),
  ...rangeFlags,
}

/** Of a command that shows all candles by default. */
export const intervalFilterFlags = inGroup('what', {
  interval: Flags.string({
    ...INTERVALS_FLAG,
    summary: 'Only candles of these lengths, repeated or separated by commas. Default: all.',
  }),
})

/** Of a command that also takes what names its intervals itself. */
export const mirrorIntervalFlags = inGroup('what', {
  interval: Flags.string({
    ...INTERVALS_FLAG,
    summary: 'Candle lengths of the mirror, repeated or separated by commas; all for these.',
  }),
})

/** Which series of a mirror, and how the table is printed. */
export const mirrorSeriesFlags = {
  ...pick(selectionFlags, 'interval'),
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
export type RangeFlags = FlagsOf<typeof rangeFlags>

/** What `mirrorSeriesFlags` and `locationFlags` parse to. */
export type TableFlags = FlagsOf<typeof mirrorSeriesFlags> & LocationFlags
