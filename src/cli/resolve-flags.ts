import { isBinary, resolveFormat } from '../export/formats/format.js'
import { KlinesError } from '../klines/errors.js'
import type { JobFlags, RangeFlags } from './flags.js'

/** Flags that shape an output. */
const OUTPUT_ONLY = ['columns', 'numbers', 'time-format', 'resample', 'partial', 'derive'] as const

/** Whether a flag was set by its environment variable and not on the command line. */
function isFromEnvironment<Flags extends RangeFlags>(name: keyof Flags & string, flags: Flags): boolean {
  const variable = process.env[`KLINES_${name.toUpperCase().replaceAll('-', '_')}`]
  return variable !== undefined && String(flags[name]) === variable
}

/** Whether a flag was set on the command line. */
function isGiven<Flags extends RangeFlags>(name: keyof Flags & string, flags: Flags): boolean {
  return flags[name] !== undefined && !isFromEnvironment(name, flags)
}

/** Of --from and --last, one on the command line wins over the other from the environment. */
export function resolveRange(flags: RangeFlags): RangeFlags {
  const { from, to, last } = flags
  if (isGiven('last', flags) && !isGiven('from', flags)) return { from: undefined, to, last }
  if (isGiven('from', flags) && !isGiven('last', flags)) return { from, to, last: undefined }
  return { from, to, last }
}

/**
 * The command line wins over the environment also where two flags exclude each other, and a default from the environment
 * that does not apply to the format is ignored. Throws `bad_option` for a flag that shapes an output where none is written,
 * and `bad_output` for a name that is not UTF-8.
 */
export function resolveFlags(flags: JobFlags, offline: boolean): JobFlags {
  const resolved = { ...flags, ...resolveRange(flags) }
  // KLINES_FORMAT is a default; only -f on the command line requests an export.
  resolved.output = resolved.output === '/dev/stdout' ? '-' : resolved.output
  if (resolved.output === undefined && (offline || isGiven('format', flags))) resolved.output = '-'
  if (resolved.output === undefined) {
    const unused = OUTPUT_ONLY.find(name => isGiven(name, flags))
    if (unused === undefined) return resolved
    const suggestions = ['Name a file with -o, or a format with -f to write to stdout.']
    throw new KlinesError('bad_option', `--${unused} shapes an output, and none is asked for.`, { suggestions })
  }
  checkEncoding(resolved.output)
  const binary = isBinary(resolveFormat(resolved.output, flags.format).format)
  if (!binary && isFromEnvironment('numbers', flags)) resolved.numbers = undefined
  if (binary && isFromEnvironment('time-format', flags)) resolved['time-format'] = undefined
  return resolved
}

/** Node turns bytes of the command line that are not UTF-8 into U+FFFD, so another file than the named one would be written. */
function checkEncoding(output: string): void {
  if (!output.includes('\ufffd')) return
  const message = `The name of the output is not valid UTF-8: ${output}. Expected a name in UTF-8.`
  const suggestions = ['Name the file otherwise, or write to stdout and let the shell name it: -o - > FILE.']
  throw new KlinesError('bad_output', message, { suggestions })
}
