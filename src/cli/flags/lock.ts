import * as Flags from '@oclif/core/flags'
import { inGroup } from './group.js'
import { type LocationFlags, locationFlags } from './location.js'
import { outputFlags, progressFlag } from './output.js'
import { type RangeFlags, selectionFlags } from './selection.js'

export const lockFlags = {
  ...selectionFlags,
  // Refused with a reason: it is a natural wish.
  resample: Flags.string({ summary: 'Not of a lock.', hidden: true }),
  ...inGroup('output', {
    output: Flags.string({
      char: 'o',
      summary: 'File to write; - for stdout. Default: klines.lock.json.',
      helpValue: 'FILE',
      // KLINES_OUTPUT is the file of candles.
      env: 'KLINES_LOCK_OUTPUT',
    }),
    force: Flags.boolean({ summary: 'Replace an existing file, and say what changed.', env: 'KLINES_FORCE' }),
    mkdir: outputFlags.mkdir,
  }),
  ...locationFlags,
  progress: progressFlag,
}

/** What `lockFlags` parse to. */
export interface LockFlags extends LocationFlags, RangeFlags {
  interval: string[]
  output?: string | undefined
  force: boolean
  mkdir: boolean
  json: boolean
}
