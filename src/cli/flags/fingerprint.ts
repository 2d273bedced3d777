import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { candleTableFlags } from './from-table.js'
import { inGroup } from './group.js'
import { type LocationFlags, locationFlags } from './location.js'
import { type RangeFlags, selectionFlags } from './selection.js'

export const fingerprintArgs = {
  symbol: Args.string({
    description:
      'Trading pairs of the mirror, or files and lakes that klines wrote: an argument with a point or a slash is a file.',
    multiple: true,
    required: true,
  }),
}

const { from, to, last } = selectionFlags
const { resample, partial, derive } = candleTableFlags

export const fingerprintFlags = {
  ...inGroup('what', {
    interval: Flags.string({
      char: 'i',
      summary: 'Candle lengths of the mirror, repeated or separated by commas; all for these.',
      helpValue: 'INTERVAL',
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
      env: 'KLINES_INTERVAL',
    }),
    series: Flags.string({
      summary:
        'Series of a file that does not name it, such as BTCUSDT/1h. Default: by the name of the file, BTCUSDT-1h.csv.',
      helpValue: 'SERIES',
      env: 'KLINES_SERIES',
    }),
  }),
  ...{ from, to, last, resample, partial, derive },
  ...locationFlags,
}

/** What `fingerprintFlags` parse to. */
export interface FingerprintFlags extends LocationFlags, RangeFlags {
  interval?: string[] | undefined
  series?: string | undefined
  resample?: string | undefined
  partial?: boolean | undefined
  derive?: boolean | undefined
}
