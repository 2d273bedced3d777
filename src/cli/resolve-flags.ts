import { isBinary, resolveFormat } from '../export/formats/format.js'
import { KlinesError } from '../klines/errors.js'
import type { JobFlags } from './flags.js'

/** Flags that shape an output. */
const OUTPUT_ONLY = ['columns', 'numbers', 'time-format', 'resample', 'partial', 'derive'] as const

/** Whether a flag's value came from its environment variable rather than from the command line. */
function isFromEnvironment(name: keyof JobFlags, flags: JobFlags): boolean {
  const variable = process.env[`KLINES_${name.toUpperCase().replaceAll('-', '_')}`]
  return variable !== undefined && String(flags[name]) === variable
}

/** A flag that stands on the command line itself. */
function isGiven(name: keyof JobFlags, flags: JobFlags): boolean {
  return flags[name] !== undefined && !isFromEnvironment(name, flags)
}

/**
 * Flags as they are meant: what the command line says wins over the environment also where the two do not go together, and
 * a default from the environment that a format has no use for is passed over.
 */
export function resolveFlags(flags: JobFlags, offline: boolean): JobFlags {
  const settled = { ...flags }
  if (isGiven('last', flags) && !isGiven('from', flags)) settled.from = undefined
  if (isGiven('from', flags) && !isGiven('last', flags)) settled.last = undefined
  // A format from the environment says how to export, not that there is to be one.
  settled.output = settled.output === '/dev/stdout' ? '-' : settled.output
  if (settled.output === undefined && (offline || isGiven('format', flags))) settled.output = '-'
  if (settled.output === undefined) {
    const idle = OUTPUT_ONLY.find(name => isGiven(name, flags))
    if (idle === undefined) return settled
    throw new KlinesError('bad_option', `--${idle} shapes an output, and none is asked for.`, {
      suggestions: ['Name a file with -o, or a format with -f to write to stdout.'],
    })
  }
  const binary = isBinary(resolveFormat(settled.output, flags.format).format)
  if (!binary && isFromEnvironment('numbers', flags)) settled.numbers = undefined
  if (binary && isFromEnvironment('time-format', flags)) settled['time-format'] = undefined
  return settled
}
