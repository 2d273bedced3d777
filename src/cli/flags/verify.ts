import * as Flags from '@oclif/core/flags'
import { locationFlags } from './location.js'
import { progressFlag, threadsFlag } from './output.js'
import { acceptListFlag, lockFlag, mirrorSeriesFlags, selectionFlags } from './selection.js'

export const verifyFlags = {
  ...mirrorSeriesFlags,
  lock: lockFlag,
  from: selectionFlags.from,
  to: selectionFlags.to,
  last: selectionFlags.last,
  audit: Flags.boolean({
    helpGroup: 'what',
    summary: 'Compare candles with those of finer intervals. On by default.',
    default: true,
    allowNo: true,
    env: 'KLINES_AUDIT',
  }),
  'fail-on-gaps': Flags.boolean({
    helpGroup: 'what',
    summary: 'Exit code 6 for gaps, and 3 when candles are missing at an end of the range that is named.',
    env: 'KLINES_FAIL_ON_GAPS',
  }),
  ...locationFlags,
  threads: threadsFlag,
  progress: progressFlag,
  'accept-list': acceptListFlag,
}
