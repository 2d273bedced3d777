import * as Flags from '@oclif/core/flags'
import { FORMATS } from '../../options/formats.js'
import { candleTableFlags, outputTableFlags } from './from-table.js'
import { inGroup } from './group.js'

/** `--progress`: `auto` is a bar at a terminal and plain lines elsewhere. */
const PROGRESS_MODES = ['auto', 'plain', 'json', 'none'] as const
export type ProgressMode = (typeof PROGRESS_MODES)[number]

/** Which files are written, and how. */
export const outputFlags = inGroup('output', {
  output: Flags.string({
    char: 'o',
    summary:
      'File to write, with {symbol}, {base}, {quote} and {interval} replaced in its name; - for stdout. With --layout, the folder of the lake.',
    helpValue: 'FILE',
    env: 'KLINES_OUTPUT',
  }),
  format: Flags.option({
    char: 'f',
    summary:
      'Output format. Default: inferred from the file extension; on stdout, a table at a terminal and JSON otherwise.',
    options: FORMATS,
    helpValue: 'FORMAT',
    env: 'KLINES_FORMAT',
  })(),
  ...outputTableFlags,
  resample: candleTableFlags.resample,
  partial: candleTableFlags.partial,
  force: Flags.boolean({ summary: 'Overwrite existing files.', env: 'KLINES_FORCE' }),
  mkdir: Flags.boolean({ summary: 'Create missing folders of the output.', env: 'KLINES_MKDIR' }),
  fingerprint: Flags.boolean({
    summary: 'Print fingerprints of the candles; Parquet files and lakes name them, too.',
    env: 'KLINES_FINGERPRINT',
  }),
})

export const { 'dry-run': dryRunFlag } = inGroup('output', {
  'dry-run': Flags.boolean({
    summary: 'Show what would be downloaded and written, without doing it.',
    env: 'KLINES_DRY_RUN',
  }),
})

export const { threads: threadsFlag } = inGroup('output', {
  threads: Flags.integer({
    summary:
      'Threads that work at once, at most one for each file, series of a lake, or symbol to verify. Default: 1 below 2,000 windows, else one per core, at most 8 and one for each 100 MB of memory.',
    helpValue: 'N',
    env: 'KLINES_THREADS',
  }),
})

export const { progress: progressFlag, 'per-series': perSeriesFlag } = inGroup('appearance', {
  progress: Flags.option({
    summary: 'Progress on stderr: auto is a bar at a terminal, elsewhere a line every 15 s.',
    options: PROGRESS_MODES,
    helpValue: 'MODE',
    env: 'KLINES_PROGRESS',
  })(),
  'per-series': Flags.boolean({
    summary: 'Show a summary row for each series, even if there are more than 12.',
    env: 'KLINES_PER_SERIES',
  }),
})
