import type { DryRunReport } from '../engine/dry-run.js'
import { checkOutputs, parseTemplate, planOutputs } from '../engine/output/output-spec.js'
import { checkLock, findLockSource, planLock } from '../identity/check-lock.js'
import { readLock } from '../identity/lock-file.js'
import { reportFingerprints } from '../rows/fingerprint.js'
import { type CandleContext, checkStandardOutput, runCandles } from './candles.js'
import { toOptions } from './command.js'
import { checkLines, lockDiffers } from './reports/lock.js'
import type { RunResult } from './reports/run-text.js'
import { refuseBesideLock, resolveFlags } from './resolve-flags.js'
import { downloadingFrom } from './terminal/progress-text.js'

/** What changes which candles are written, or where: a lock has exactly its own. */
const NOT_LOCKED = ['resample', 'partial', 'limit', 'tail', 'layout', 'partition', 'prune', 'fail-on-gaps']

/**
 * Downloads the series of a lock and compares them with it; then exports them, if an output or a format is named. Throws `lock_differs`,
 * and nothing is exported then. Returns undefined when the data went to stdout.
 */
export async function runLockedDownload(
  path: string,
  named: string[] | undefined,
  context: CandleContext,
): Promise<RunResult | DryRunReport | undefined> {
  const { given, during } = context
  refuseBesideLock(named, NOT_LOCKED, given)
  const startedMs = performance.now()
  const lock = await readLock(path)
  const { mirror, 'base-url': address } = context.flags
  const baseUrl = findLockSource(lock, { lock: path, mirror, baseUrl: given.has('base-url') ? address : undefined })
  // Defaults of variables and files that would change which candles are written are left out.
  const dropped = Object.fromEntries([...NOT_LOCKED, 'from', 'to', 'last'].map(name => [name, undefined]))
  const interval = [...new Set(lock.series.map(({ interval }) => interval))]
  const flags = { ...context.flags, ...dropped, interval, 'base-url': baseUrl }
  const run = { symbols: [...new Set(lock.series.map(({ symbol }) => symbol))], plan: planLock.bind(null, lock, path) }
  if (flags['dry-run']) return runCandles({ ...context, flags }, run)
  const { output, format } = resolveFlags(flags, false, given)
  checkStandardOutput(output, flags)
  if (output !== undefined) await checkOutputs(planOutputs(output, parseTemplate(output, format), lock.series), flags)
  const request = { ...toOptions(flags), lock: path, signal: context.options.signal }
  const check = await during(downloadingFrom(baseUrl), events => checkLock({ ...request, ...events }))
  const { download } = check
  if (check.verdict !== 'equal' || download === undefined) throw lockDiffers(check, output !== undefined)
  const exported =
    output === undefined ? { files: [] } : await runCandles({ ...context, flags }, { ...run, offline: true })
  if (exported === undefined) return undefined
  const found = check.series.flatMap(({ found }) => found ?? [])
  return {
    ...download,
    elapsedMs: performance.now() - startedMs,
    files: (exported as Partial<RunResult>).files,
    lock: { path, series: lock.series.length, lines: checkLines(check) },
    ...(flags.fingerprint && { fingerprints: reportFingerprints(found) }),
  }
}
