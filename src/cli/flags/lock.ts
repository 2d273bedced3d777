import * as Flags from '@oclif/core/flags'
import { type FlagsOf, inGroup } from './group.js'
import { outputFlag } from './output.js'
import type { OutputOptions } from './run.js'
import { selectionFlags } from './selection.js'
import { locationFlags } from './service.js'

export const lockFlags = {
  ...selectionFlags,
  ...inGroup('output', {
    output: outputFlag({
      summary: 'File to write; - for stdout. Default: klines.lock.json.',
      // KLINES_OUTPUT is the file of candles.
      env: 'KLINES_LOCK_OUTPUT',
    }),
    force: Flags.boolean({ summary: 'Replace an existing file, and say what changed.' }),
  }),
  ...locationFlags,
}

/** What `lockFlags` parse to. */
export type LockFlags = FlagsOf<typeof lockFlags> & OutputOptions
