import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { RESULT_FORMATS } from '../../sql/result.js'
import { type FlagsOf, inGroup } from './group.js'
import { outputFlag, outputFlags } from './output.js'
import type { OutputOptions } from './run.js'
import { rangeFlags } from './selection.js'
import { locationFlags } from './service.js'

export const sqlArgs = {
  sql: Args.string({
    description: 'One select statement; - or nothing reads it from stdin.',
    // oclif would wait for 10 ms only, and lose what comes then.
    ignoreStdin: true,
  }),
}

/** What is queried, and where the result goes. */
export const sqlFlags = {
  ...inGroup('what', {
    lake: Flags.string({
      summary: 'Folder of a lake, as klines export --layout hive makes it. Default: the mirror.',
      helpValue: 'DIR',
    }),
  }),
  ...locationFlags,
  ...rangeFlags,
  ...inGroup('output', {
    output: outputFlag({ summary: 'File to write; - for stdout.', env: 'KLINES_SQL_OUTPUT' }),
    format: Flags.option({
      char: 'f',
      summary:
        'Format of the result. Default: inferred from the file extension; on stdout, a table at a terminal and JSON otherwise.',
      options: RESULT_FORMATS,
      helpValue: 'FORMAT',
      // KLINES_FORMAT is the format of candles.
      env: 'KLINES_SQL_FORMAT',
    })(),
    force: outputFlags.force,
    mkdir: outputFlags.mkdir,
  }),
  ...inGroup('appearance', {
    threads: Flags.integer({
      summary: 'Threads of a query. With more than one, the order of unsorted rows can change from run to run.',
      helpValue: 'COUNT',
      min: 1,
      default: 1,
      env: 'KLINES_SQL_THREADS',
    }),
  }),
}

/** A text that can be no flag: two hyphens before a space or the end of a line, or a line without a value. */
const COMMENT = /^--(?:\s|[^=\n]*\n)/

/** The arguments of `sql` with SQL that begins with a comment where oclif does not take it for a flag: at the end, after `--`. */
export function withSqlLast(argv: readonly string[]): string[] {
  const sql = argv.includes('--') ? [] : argv.filter(text => COMMENT.test(text))
  return sql.length === 0 ? [...argv] : [...argv.filter(text => !sql.includes(text)), '--', ...sql]
}

/** What the flags of `sql` parse to. */
export type SqlFlags = FlagsOf<typeof sqlFlags> & OutputOptions
