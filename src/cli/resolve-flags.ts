import type * as Interfaces from '@oclif/core/interfaces'
import { KlinesError } from '../candles/errors.js'
import { isStdout } from '../fs/links.js'
import { formatOfName, isBinary, OUTPUT_ENTRIES, resolveFormat, unusableFlags } from '../options.js'
import { refuse, refuseJson } from './command.js'
import type { downloadFlags } from './flags/output.js'

export type CandleFlags = Partial<Interfaces.InferredFlags<typeof downloadFlags>> & { json?: boolean | undefined }

const EXCERPT = ['limit', 'tail'] as const
const OUTPUT_ONLY = [...OUTPUT_ENTRIES.map(({ flag }) => flag), 'resample', 'partial', ...EXCERPT, 'threads'] as const

/** Throws `bad_option` for what a lock says itself, and for flags that have no use beside it (`others`). */
export function refuseBesideLock(symbols: string[] | undefined, others: string[], given: ReadonlySet<string>): void {
  const flag = ['interval', 'from', 'to', 'last', ...others].find(name => given.has(name))
  const named = symbols?.[0] ?? (flag && `--${flag}`)
  if (named !== undefined)
    throw refuse(`${named} contradicts --lock (or KLINES_LOCK), which says which candles. Expected one of them.`)
}

/**
 * Decides what is written where; `isTable`: as a table. A default that does not apply is ignored; a flag on the command line (`given`)
 * is refused with `bad_option`, and a name that is not UTF-8 with `bad_output`.
 */
export function resolveFlags(flags: CandleFlags, offline: boolean, given: ReadonlySet<string>) {
  const resolved: CandleFlags & { isTable?: boolean } = { ...flags }
  const leaveOut = (names: readonly (keyof CandleFlags)[], why: string, advice: string) => {
    const unused = names.find(name => given.has(name) && flags[name] !== false)
    if (unused !== undefined) throw refuse(`--${unused} ${why}`, advice)
    for (const name of names) resolved[name] = undefined
  }
  // KLINES_FORMAT is a default; only -f on the command line requests an export.
  if (resolved.output === undefined && (offline || given.has('format'))) resolved.output = '-'
  const { output } = resolved
  resolved.layout = resolveLayout(resolved, given)
  const { layout } = resolved
  const advice = 'Add --layout hive and the folder of the lake, -o DIR.'
  if (layout === undefined) leaveOut(['prune'], 'applies to --layout, which is missing.', advice)
  if (output === undefined) {
    const advice = 'Name a file with -o, or a format with -f to write to stdout.'
    leaveOut(OUTPUT_ONLY, 'applies to an output, and none is named.', advice)
    return resolved
  }
  if (resolved.resample === undefined) {
    const why = 'keeps incomplete candles of another length, and none is requested.'
    leaveOut(['partial'], why, 'Add --resample, or leave --partial out.')
  }
  // Node turns bytes of the command line that are not UTF-8 into U+FFFD, so another file than the named one would be written.
  if (output.includes('\ufffd')) {
    const suggestions = ['Name the file otherwise, or write to stdout and let the shell name it: -o - > FILE.']
    const message = `The name of the output is not valid UTF-8: ${output}. Expected a name in UTF-8.`
    throw new KlinesError('bad_output', message, { suggestions })
  }
  // The table has the options of a text format for all series.
  resolved.isTable = output === '-' && process.stdout.isTTY && resolved.format === undefined && layout === undefined
  if (resolved.isTable) resolved.format = 'csv'
  const { format } = layout === undefined ? resolveFormat(output, resolved.format) : { format: 'parquet' as const }
  const unusable = [...unusableFlags(format), ...(layout === undefined ? [] : EXCERPT)]
  for (const name of unusable) if (!given.has(name)) resolved[name] = undefined
  return resolved
}

/** A default of --layout does not apply to a file, stdout or a run without an output. */
function resolveLayout({ output, format, layout }: CandleFlags, given: ReadonlySet<string>): CandleFlags['layout'] {
  const isFolder = output !== undefined && output !== '-' && formatOfName(output) === undefined && !given.has('format')
  if (layout === undefined || (!given.has('layout') && !isFolder)) return undefined
  if (output === undefined || (output === '-' && !given.has('output')))
    throw refuse('--layout writes files into a folder, and none is named.', 'Name the folder of the lake with -o DIR.')
  if (format !== undefined && format !== 'parquet' && given.has('format'))
    throw refuse(`--layout writes Parquet files. Expected -f parquet or no -f, not ${format}.`)
  return layout
}

/** Throws for `--json` beside candles on stdout, and for binary data at a terminal. */
export function checkStandardOutput(output: string | undefined, flags: CandleFlags): void {
  if (output === undefined || !isStdout(output) || flags['dry-run'] || flags.layout !== undefined) return
  if (flags.json) throw refuseJson('candles')
  const { format } = resolveFormat(output, flags.format)
  if (isBinary(format) && process.stdout.isTTY) {
    const suggestions = ['Write it to a file with -o FILE, or pipe it on.']
    throw new KlinesError('bad_output', `${format} is binary, and stdout is a terminal.`, { suggestions })
  }
}
