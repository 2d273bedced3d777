import { extname } from 'node:path'
import * as Flags from '@oclif/core/flags'
import { expandHome } from '../../fs/folders.js'
import { isStdout } from '../../fs/links.js'
import { LAYOUTS } from '../../lake/layout.js'
import { FORMATS } from '../../options.js'
import { candleTableFlags, inGroup, outputTableFlags, pick } from './group.js'
import { fetchFlags, locationFlags, lockFlag, runFlags, selectionFlags } from './shared.js'

/** `-o`: another name of stdout is `-`, unless its extension names the format. */
export const outputFlag = Flags.custom<string>({
  char: 'o',
  helpValue: 'FILE',
  parse: async path => (isStdout(path) && extname(path) === '' ? '-' : expandHome(path)),
})

export const outputFlags = inGroup('output', {
  output: outputFlag({
    summary:
      'File to write, with {symbol}, {base}, {quote} and {interval} replaced in its name; - for stdout. Missing folders are made. With --layout, the folder of the lake.',
  }),
  format: Flags.option({
    char: 'f',
    summary:
      'Output format. Default: inferred from the file extension; on stdout, a table at a terminal and JSON otherwise.',
    options: FORMATS,
    helpValue: 'FORMAT',
  })(),
  ...outputTableFlags,
  ...pick(candleTableFlags, 'resample', 'partial'),
  force: Flags.boolean({ summary: 'Overwrite existing files.' }),
  fingerprint: Flags.boolean({
    summary: 'Print fingerprints of the candles; Parquet files and lakes name them, too.',
  }),
})

const lakeFlags = inGroup('output', {
  layout: Flags.option({
    summary:
      'Keep a lake in the folder of -o up to date: Parquet files such as symbol=BTCUSDT/interval=1h/part-0.parquet.',
    options: LAYOUTS,
    helpValue: 'LAYOUT',
  })(),
  prune: Flags.boolean({
    summary: 'With --layout, remove the series that are not requested.',
  }),
})

export const tableFlags = inGroup('output', {
  format: Flags.option({
    char: 'f',
    summary: 'Format of the table. Default: text.',
    options: ['text', 'csv'] as const,
    helpValue: 'FORMAT',
    // KLINES_FORMAT is the format of candles.
    env: 'KLINES_TABLE_FORMAT',
  })(),
})

export const exportFlags = {
  ...selectionFlags,
  ...pick(candleTableFlags, 'limit', 'tail'),
  ...outputFlags,
  ...lakeFlags,
  ...locationFlags,
  ...pick(runFlags, 'fail-on-gaps', 'dry-run', 'threads'),
}

/** The same for what is downloaded first; the lock stands beside what it replaces. */
export const downloadFlags = {
  ...pick(exportFlags, 'interval'),
  ...lockFlag,
  ...exportFlags,
  ...fetchFlags,
  ...pick(runFlags, 'per-series'),
}
