import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { INTERVALS } from '../../candles/intervals.js'
import { candleTableFlags } from './from-table.js'
import { inGroup, pick } from './group.js'

export const symbolArgs = {
  symbol: Args.string({
    description: "Trading pairs such as BTCUSDT or btc/usdt, quoted patterns such as '*USDT', or all.",
    multiple: true,
    required: true,
  }),
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

/** Of a command that does not need them, with what it does without. */
export function intervalFlag(summary: string) {
  return inGroup('what', { interval: Flags.string({ ...INTERVALS_FLAG, summary }) })
}

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
