import { checkOutputs, parseTemplate, planOutputs } from '../../export/output-spec.js'
import { checkLock, findLockSource, planLock } from '../../identity/check-lock.js'
import { readLock } from '../../identity/lock-file.js'
import type { RunContext } from '../base-command.js'
import type { JobFlags } from '../flags/download.js'
import { toFetchOptions } from '../flags/service.js'
import { lockDiffers, lockedRunReport } from '../reports/lock.js'
import type { Report } from '../reports/report.js'
import type { RunResult } from '../reports/run-text.js'
import { resolveFlags } from '../resolve-flags.js'
import { downloadingFrom, ProgressDisplay } from '../terminal/progress.js'
import { checkStandardOutput, runCandles } from './candles.js'
import { namedAddress, refuseBesideLock } from './lock.js'

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
  const { lock: path = '', mirror } = given
  const lock = await readLock(path)
  const source = findLockSource(lock, { lock: path, mirror, baseUrl: namedAddress(given, context) })
  // Defaults of variables and files that would change which candles are written are left out.
  const dropped = Object.fromEntries([...NOT_LOCKED, 'from', 'to', 'last'].map(name => [name, undefined]))
  const interval: string[] = [...new Set(lock.series.map(({ interval }) => interval))]
  const flags = { ...given, ...dropped, interval, 'base-url': source }
  const names = [...new Set(lock.series.map(({ symbol }) => symbol))]
  const plan: Parameters<typeof runCandles>[4] = { plan: run => planLock(lock, path, run) }
  if (flags['dry-run']) return runCandles(names, flags, false, context, plan)
  const { output, format } = resolveFlags(flags, false, context.given)
  checkStandardOutput(output, flags)
  if (output !== undefined) await checkOutputs(planOutputs(output, parseTemplate(output, format), lock.series), flags)
  const startedMs = performance.now()
  const { signal, warn, progressStyle } = context
  const options = { lock: path, baseUrl: source, mirror, ...toFetchOptions(flags), signal }
  const check = await ProgressDisplay.during(progressStyle, downloadingFrom(source), ({ events }) =>
    checkLock({ ...options, onEvent: events(warn) }),
  )
  if (check.verdict !== 'equal') throw lockDiffers(check, output !== undefined)
  const report = (files: RunResult['files']) => {
    const details = { elapsedMs: performance.now() - startedMs, now: Date.now(), offline: false }
    const shown = { perSeries: flags['per-series'] ?? false, fingerprint: flags.fingerprint ?? false }
    return lockedRunReport(check, files, { ...details, ...shown })
  }
  if (output === undefined) return report([])
  return runCandles(names, flags, true, context, { ...plan, report: ({ files }) => report(files) })
}
