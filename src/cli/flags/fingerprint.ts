import * as Args from '@oclif/core/args'
import { candleTableFlags } from './from-table.js'
import { type FlagsOf, pick } from './group.js'
import { type OutputOptions, runFlags } from './run.js'
import { mirrorIntervalFlags, rangeFlags } from './selection.js'
import { locationFlags } from './service.js'

export const fingerprintArgs = {
  symbol: Args.string({
    description:
      'Trading pairs of the mirror, or files and lakes that klines wrote: an argument with a point or a slash is a file.',
    multiple: true,
    required: true,
  }),
}

export const fingerprintFlags = {
  ...mirrorIntervalFlags,
  ...rangeFlags,
  ...pick(candleTableFlags, 'resample', 'partial'),
  ...pick(runFlags, 'fail-on-gaps'),
  ...locationFlags,
}

/** What `fingerprintFlags` parse to. */
export type FingerprintFlags = FlagsOf<typeof fingerprintFlags> & OutputOptions
