import type * as Interfaces from '@oclif/core/interfaces'
import { KlinesError } from '../candles/errors.js'
import { type Format, formatOfName, resolveFormat } from '../options/formats.js'
import { OUTPUT_ENTRIES, unusableFlags } from '../options/output-options.js'
import type { downloadFlags } from './flags/candles.js'

/** The flags of `download` and `export`. */
export type CandleFlags = Partial<Interfaces.InferredFlags<typeof downloadFlags>>

/** The flags of a run, as `resolveFlags` resolves them. */
export interface ResolvedFlags extends CandleFlags {
  /** Whether the candles are shown as a table. */
  isTable?: boolean
}

/** Flags that shape an output. */
const LAKE_ONLY = ['partition', 'prune'] as const
const EXCERPT = ['limit', 'tail'] as const
const OUTPUT_ONLY = [
  ...OUTPUT_ENTRIES.map(({ flag }) => flag),
  ...['resample', 'partial', ...EXCERPT, 'threads'],
] as const

/** Flags that exclude each other. */
const ALTERNATIVES = [
  ['from', 'last'],
  ['limit', 'tail'],
] as const

/** Of two flags that exclude each other, one on the command line (`given`) wins over a default of the other. */
export function dropAlternatives(values: Record<string, unknown>, given: ReadonlySet<string>): void {
  for (const [one, other] of [...ALTERNATIVES, ...ALTERNATIVES.map(pair => pair.toReversed())])
    if (given.has(one) && !given.has(other)) values[other] = undefined
}

/** Throws `bad_option` for what a lock says itself, and for flags that have no use beside it (`others`). */
export function refuseBesideLock(
  symbols: readonly string[] | undefined,
  others: readonly string[],
  given: ReadonlySet<string>,
): void {
  const flag = ['interval', 'from', 'to', 'last'].find(name => given.has(name))
  const named = symbols?.[0] ?? (flag && `--${flag}`)
  if (named !== undefined) {
    const message = `${named} contradicts --lock (or KLINES_LOCK), which says which candles. Expected one of them.`
    throw new KlinesError('bad_option', message)
  }
  const unused = others.find(name => given.has(name))
  if (unused !== undefined) throw new KlinesError('bad_option', `--${unused} has no use with --lock. Leave it out.`)
}

/**
 * The command line (`given`, the flags on it) wins over defaults of the environment and of the config file also where two flags
 * exclude each other, and a default that does not apply to the format is ignored. Throws `bad_option` for a flag that shapes
 * an output where none is written, and `bad_output` for a name that is not UTF-8.
 */
export function resolveFlags(flags: CandleFlags, offline: boolean, given: ReadonlySet<string>): ResolvedFlags {
  const resolved: ResolvedFlags = { ...flags }
  // KLINES_FORMAT is a default; only -f on the command line requests an export.
  if (resolved.output === undefined && (offline || given.has('format'))) resolved.output = '-'
  if (resolved.resample === undefined && !given.has('partial')) resolved.partial = undefined
  resolveLakeFlags(resolved, given)
  if (resolved.partial && resolved.resample === undefined) {
    const message = '--partial keeps incomplete candles of another length, and none is requested.'
    throw new KlinesError('bad_option', message, { suggestions: ['Add --resample, or leave --partial out.'] })
  }
  if (resolved.output === undefined) {
    const unused = OUTPUT_ONLY.find(name => given.has(name) && flags[name] !== false)
    if (unused === undefined) return resolved
    const suggestions = ['Name a file with -o, or a format with -f to write to stdout.']
    throw new KlinesError('bad_option', `--${unused} applies to an output, and none is named.`, { suggestions })
  }
  checkEncoding(resolved.output)
  if (resolved.layout !== undefined) {
    for (const name of EXCERPT) if (!given.has(name)) resolved[name] = undefined
    return withoutDefaults(resolved, 'parquet', given)
  }
  // A person reads a terminal; a program reads a pipe. The table has the options of a text format for all series.
  resolved.isTable = resolved.output === '-' && process.stdout.isTTY && resolved.format === undefined
  if (resolved.isTable) resolved.format = 'csv'
  return withoutDefaults(resolved, resolveFormat(resolved.output, resolved.format).format, given)
}

/** A default of --layout does not apply to a file, stdout or a run without an output. Throws `bad_option` for flags that do not fit. */
function resolveLakeFlags(flags: CandleFlags, given: ReadonlySet<string>): void {
  const { output, format } = flags
  const isFolder = output !== undefined && output !== '-' && formatOfName(output) === undefined && !given.has('format')
  if (!given.has('layout') && !isFolder) flags.layout = undefined
  if (flags.layout === undefined) {
    const unused = LAKE_ONLY.find(name => given.has(name) && flags[name] !== false)
    if (unused !== undefined) {
      const suggestions = ['Add --layout hive and the folder of the lake, -o DIR.']
      throw new KlinesError('bad_option', `--${unused} applies to --layout, which is missing.`, { suggestions })
    }
    for (const name of LAKE_ONLY) flags[name] = undefined
    return
  }
  const suggestions = ['Name the folder of the lake with -o DIR, such as -o lake/.']
  if (output === undefined || (output === '-' && !given.has('output'))) {
    throw new KlinesError('bad_option', '--layout writes files into a folder, and none is named.', { suggestions })
  }
  if (format === undefined || format === 'parquet' || !given.has('format')) return
  throw new KlinesError('bad_option', `--layout writes Parquet files. Expected -f parquet or no -f, not ${format}.`)
}

/** The flags without those defaults that a format cannot use. */
function withoutDefaults(flags: ResolvedFlags, format: Format, given: ReadonlySet<string>): ResolvedFlags {
  for (const name of unusableFlags(format)) if (!given.has(name)) flags[name] = undefined
  return flags
}

/** Node turns bytes of the command line that are not UTF-8 into U+FFFD, so another file than the named one would be written. */
function checkEncoding(output: string): void {
  if (!output.includes('\ufffd')) return
  const message = `The name of the output is not valid UTF-8: ${output}. Expected a name in UTF-8.`
  const suggestions = ['Name the file otherwise, or write to stdout and let the shell name it: -o - > FILE.']
  throw new KlinesError('bad_output', message, { suggestions })
}
