import * as Flags from '@oclif/core/flags'
import { type FlagsOf, inGroup } from './group.js'

/** Where candles come from and where they are kept. */
export const locationFlags = inGroup('what', {
  'base-url': Flags.string({
    summary:
      'Base address of the klines service, without /api; binance for the exchange itself (binance:URL for another host of it), sample for the bundled synthetic sample data.',
    helpValue: 'URL',
  }),
  mirror: Flags.string({
    summary: 'Folder of the local mirror. Default: see klines mirror path.',
    helpValue: 'DIR',
  }),
})

/** Of a command that removes files of the mirror. */
export const removalFlags = {
  ...locationFlags,
  ...inGroup('what', { yes: Flags.boolean({ summary: 'Do not ask for confirmation.' }) }),
}

/** What `locationFlags` parse to. */
export type LocationFlags = FlagsOf<typeof locationFlags>
