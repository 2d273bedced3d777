import { checkLock } from '../../identity/check-lock.js'
import { lockKlines } from '../../identity/lock.js'
import { KlinesError } from '../../klines/errors.js'
import { SAMPLE } from '../../sources/base-url.js'
import type { RunContext } from '../base-command.js'
import { ExitCode } from '../error-report.js'
import type { LockFlags } from '../flags/lock.js'
import type { LocationFlags } from '../flags/service.js'
import { lockCheckReport, lockReport } from '../reports/lock.js'
import type { Report } from '../reports/report.js'
import { SYNTHETIC } from '../reports/run-text.js'
import type { LockCheckObject, LockObject } from '../reports/schema.js'
import { resolveRange } from '../resolve-flags.js'
import { ProgressDisplay } from '../terminal/progress.js'

const READING = { start: 'Reading the mirror', verb: 'Reading', noun: 'window' }
const EXIT_CODES = {
  equal: ExitCode.Done,
  different: ExitCode.VerificationFailed,
  incomplete: ExitCode.Incomplete,
} as const

/** What only the lock says. */
const SELECTION = ['interval', 'from', 'to', 'last']
/** What `verify` does with a lock needs none of these. */
const VERIFY_ONLY = ['format', 'fail-on-gaps', 'threads']

/** `lock`. Returns undefined when the lock went to stdout. */
export async function runLock(
  symbols: string[],
  flags: LockFlags,
  { given, signal, warn, progressStyle }: RunContext,
): Promise<Report<LockObject> | undefined> {
  const { interval, mirror, output, force, json, 'base-url': baseUrl } = flags
  if (output === '-' && json) {
    throw new KlinesError('bad_option', '--json prints an object on stdout, where the lock goes. Expected one of them.')
  }
  const report = await ProgressDisplay.during(progressStyle, READING, ({ events }) =>
    lockKlines({
      ...{ symbols, intervals: interval },
      ...resolveRange(flags, given),
      ...{ baseUrl, mirror, output, force, signal, onEvent: events(warn) },
    }),
  )
  if (report.source === SAMPLE) warn(SYNTHETIC)
  return output === '-' ? undefined : lockReport(report)
}

/** What the flags of a check parse to. */
export interface LockCheckFlags extends LocationFlags {
  lock?: string | undefined
}

/** `verify --lock`. */
export async function runVerifyLock(
  symbols: string[] | undefined,
  flags: LockCheckFlags,
  context: RunContext,
): Promise<Report<LockCheckObject> & { exitCode: ExitCode }> {
  refuseBesideLock(symbols, VERIFY_ONLY, context)
  const { signal, warn, progressStyle } = context
  const { lock = '', mirror } = flags
  const baseUrl = namedAddress(flags, context)
  const check = await ProgressDisplay.during(progressStyle, READING, ({ events }) =>
    checkLock({ lock, baseUrl, mirror, offline: true, signal, onEvent: events(warn) }),
  )
  return { ...lockCheckReport(check), exitCode: EXIT_CODES[check.verdict] }
}

/** Throws `bad_option` for what the lock says, and for flags that have no use beside it (`others`). */
export function refuseBesideLock(
  symbols: readonly string[] | undefined,
  others: readonly string[],
  { given }: Pick<RunContext, 'given'>,
): void {
  const flag = SELECTION.find(name => given.has(name))
  const named = symbols?.[0] ?? (flag && `--${flag}`)
  if (named !== undefined) {
    throw new KlinesError(
      'bad_option',
      `${named} contradicts --lock (or KLINES_LOCK), which says which candles. Expected one of them.`,
    )
  }
  const unused = others.find(name => given.has(name))
  if (unused !== undefined) throw new KlinesError('bad_option', `--${unused} has no use with --lock. Leave it out.`)
}

/** The base address on the command line, which must be that of the lock; a default of another one does not matter. */
export function namedAddress(flags: LockCheckFlags, { given }: RunContext): string | undefined {
  return given.has('base-url') ? flags['base-url'] : undefined
}
