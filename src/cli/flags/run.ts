import * as Flags from '@oclif/core/flags'
import { inGroup } from './group.js'

/** Flags of every command. */
export const baseFlags = inGroup('appearance', {
  json: Flags.boolean({ summary: 'Print one JSON object instead of text.' }),
  quiet: Flags.boolean({ char: 'q', summary: 'Print only data and errors.' }),
  verbose: Flags.boolean({ char: 'v', summary: 'Print more details.' }),
})

/** Flags of several commands, each by itself: they `pick` theirs. */
export const runFlags = {
  ...inGroup('what', {
    lock: Flags.string({
      summary: 'Lock file (klines lock) that says which series, ranges and source, in place of SYMBOL and -i.',
      helpValue: 'FILE',
    }),
    'fail-on-gaps': Flags.boolean({
      summary: 'Exit code 3, and no export, when candles are missing in the range or at an end of it that is named.',
    }),
  }),
  ...inGroup('output', {
    'dry-run': Flags.boolean({ summary: 'Show what would be downloaded and written, without doing it.' }),
    threads: Flags.integer({
      summary:
        'Threads that work at once, at most one for each file, series of a lake, or symbol to verify. Default: 1 below 2,000 windows, else one per core, at most 8 and one for each 100 MB of memory.',
      helpValue: 'N',
    }),
  }),
  ...inGroup('appearance', {
    'per-series': Flags.boolean({ summary: 'Show a summary row for each series, even if there are more than 12.' }),
  }),
}
