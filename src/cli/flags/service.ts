import { CLIError } from '@oclif/core/errors'
import * as Flags from '@oclif/core/flags'
import { GREETING_BASE_URL } from '../../sources/base-url.js'
import { inGroup } from './group.js'

/** Where candles come from and where they are kept. */
export const locationFlags = inGroup('what', {
  'base-url': Flags.string({
    summary:
      'Base address of the klines service, without /api; binance for the exchange itself (binance:URL for another host of it), sample for the bundled synthetic sample data.',
    helpValue: 'URL',
  }),
  mirror: Flags.string({
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
    summary: 'Retries of a failed request. Default: 5; 1 for lists, serve, and chart with a mirror.',
    helpValue: 'N',
  }),
  timeout: numberFlag({
    summary: 'Timeout of an attempt in seconds. Default: 30; 5 for lists, serve, and chart with a mirror.',
    helpValue: 'SECONDS',
  }),
})

/** How candles are downloaded. */
export const fetchFlags = inGroup('network', {
  concurrency: Flags.integer({
    summary: 'Number of parallel requests. Default: 16; 4 for binance.',
    helpValue: 'N',
  }),
  refresh: Flags.boolean({ summary: 'Download every window again, even final ones.' }),
  ...networkFlags,
})
