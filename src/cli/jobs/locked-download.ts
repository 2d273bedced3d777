import { checkOutputs, parseTemplate, planOutputs } from '../../export/output-spec.js'
import { systemClock } from '../../http/system-clock.js'
import { checkLock, type LockCheck, lockedRanges, lockedSpan } from '../../lock/check-lock.js'
import { type Lock, readLock } from '../../lock/lock-file.js'
import type { RunContext } from '../base-command.js'
import type { JobFlags } from '../flags/download.js'
import { toFetchOptions } from '../flags/service.js'
import { lockDiffers, lockedRunReport } from '../reports/lock.js'
import type { Report } from '../reports/report.js'
import type { RunResult } from '../reports/run-text.js'
import { resolveFlags } from '../resolve-flags.js'
import { downloadingFrom } from '../service-address.js'
import { ProgressDisplay } from '../terminal/progress.js'
import { checkStandardOutput, runCandles } from './candles.js'
import { findNamedSource, refuseBesideLock } from './lock.js'

/** What changes which candles are written, or where: a lock has exactly its own. */
const NOT_LOCKED = ['resample', 'partial', 'limit', 'tail', 'layout', 'partition', 'prune', 'fail-on-gaps'] as const

/**
 * `download --lock`: downloads the series of a lock and compares them with it; then exports them, if an output or a format is named.
 * Throws `lock_differs`, and nothing is exported then. Returns undefined when the data went to stdout.
 */
export async function runLockedDownload(
  symbols: string[] | undefined,
  given: JobFlags,
  context: RunContext,
): Promise<Report | undefined> {
  refuseBesideLock(symbols, NOT_LOCKED, context)
  const lock = await readLock(given.lock ?? '')
  const source = findNamedSource(lock, given, context, false)
  const flags = { ...withLocked(given, lock), 'base-url': source }
  const ranges = lockedRanges(lock)
  const names = [...new Set(lock.series.map(({ symbol }) => symbol))]
  if (flags['dry-run']) return runCandles(names, flags, false, context, { ranges })
  const { output, format } = resolveFlags(flags, false, context.given)
  checkStandardOutput(output, flags)
  if (output !== undefined) await checkOutputs(planOutputs(output, parseTemplate(output, format), lock.series), flags)
  const startedMs = performance.now()
  const check = await downloadLocked(flags, source, context)
  if (check.verdict !== 'equal') throw lockDiffers(check, output !== undefined)
  const report = (files: RunResult['files']) => {
    const details = { elapsedMs: performance.now() - startedMs, now: systemClock.now(), offline: false }
    const shown = { perSeries: flags['per-series'] ?? false, fingerprint: flags.fingerprint ?? false }
    return lockedRunReport(check, files, { ...details, ...shown })
  }
  if (output === undefined) return report([])
  return runCandles(names, flags, true, context, { ranges, report: ({ files }) => report(files) })
}

/** The flags with the series and the time of a lock; defaults of variables and files that would change these are left out. */
function withLocked(flags: JobFlags, { series }: Lock): JobFlags {
  const dropped = NOT_LOCKED.map(name => [name, undefined])
  const interval: string[] = [...new Set(series.map(({ interval }) => interval))]
  return { ...flags, ...Object.fromEntries(dropped), interval, ...lockedSpan(series), last: undefined }
}

async function downloadLocked(
  flags: JobFlags,
  source: string | undefined,
  { signal, warn, progressStyle }: RunContext,
): Promise<LockCheck> {
  const { lock = '', mirror } = flags
  const options = { ...toFetchOptions(flags), signal }
  return ProgressDisplay.during(progressStyle, downloadingFrom(source), ({ events }) =>
    checkLock({ lock, baseUrl: source, mirror, ...options, onEvent: events(warn) }),
  )
}
