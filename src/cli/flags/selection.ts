import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { INTERVALS } from '../../candles/intervals.js'
import { GREETING_BASE_URL } from '../../sources/base-url.js'
import { candleTableFlags, inGroup, LIST, pathFlag, pick } from './group.js'

export const symbolArgs = {
  symbol: Args.string({
    description: "Trading pairs such as BTCUSDT or btc/usdt, quoted patterns such as '*USDT', or all.",
    multiple: true,
    required: true,
  }),
}

const INTERVAL = { char: 'i', aliases: ['timeframe'] as string[], helpValue: 'INTERVAL', ...LIST } as const

export const rangeFlags = pick(candleTableFlags, 'from', 'to', 'last')

export const selectionFlags = {
  ...inGroup('what', {
    interval: Flags.string({
      ...INTERVAL,
      summary: `Candle lengths, repeated or separated by commas: ${INTERVALS.join(' ')}; all for these. From binance also 1m 3m 5m, which all does not download.`,
      required: true,
    }),
  }),
  ...rangeFlags,
}

/** `-i` of a command that does not need it, with what it does without. */
export function intervalFlag(summary: string) {
  return inGroup('what', { interval: Flags.string({ ...INTERVAL, summary }) })
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
      'Base address of the klines service, without /api; binance for the exchange itself (binance:URL for another host of it), sample for the bundled synthetic sample data.',
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
