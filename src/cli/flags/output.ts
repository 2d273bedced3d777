import * as Flags from '@oclif/core/flags'
import { FORMATS } from '../../options/formats.js'
import { candleTableFlags, outputTableFlags } from './from-table.js'
import { inGroup, pick } from './group.js'

/** `-o`: `/dev/stdout` is stdout, as `-` is. */
export const outputFlag = Flags.custom<string>({
  char: 'o',
  helpValue: 'FILE',
  parse: async path => (path === '/dev/stdout' ? '-' : path),
})

/** Which files are written, and how. */
export const outputFlags = inGroup('output', {
  output: outputFlag({
    summary:
      'File to write, with {symbol}, {base}, {quote} and {interval} replaced in its name; - for stdout. With --layout, the folder of the lake.',
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
  mkdir: Flags.boolean({ summary: 'Create missing folders of the output.' }),
  fingerprint: Flags.boolean({
    summary: 'Print fingerprints of the candles; Parquet files and lakes name them, too.',
  }),
})
