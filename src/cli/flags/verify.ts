import * as Flags from '@oclif/core/flags'
import { type FlagsOf, inGroup, pick } from './group.js'
import { type OutputOptions, runFlags } from './run.js'
import { mirrorSeriesFlags, rangeFlags } from './selection.js'
import { locationFlags } from './service.js'

export const verifyFlags = {
  ...mirrorSeriesFlags,
  ...pick(runFlags, 'lock'),
  ...rangeFlags,
  ...inGroup('what', {
    'fail-on-gaps': Flags.boolean({
      summary: 'Exit code 6 when candles are missing in the range or at an end of it that is named.',
    }),
  }),
  ...locationFlags,
  ...pick(runFlags, 'threads'),
}

/** What `verifyFlags` parse to. */
export type VerifyFlags = FlagsOf<typeof verifyFlags> & OutputOptions
