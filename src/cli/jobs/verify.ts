import { systemClock } from '../../http/system-clock.js'
import { parseRequestedRange } from '../../klines/time-range.js'
import { sumFiner } from '../../verify/finer-sum.js'
import { verifySeries } from '../../verify/verify.js'
import type { RunContext } from '../base-command.js'
import { ExitCode } from '../error-report.js'
import type { VerifyFlags } from '../flags/verify.js'
import { cachedSeries, describeLocation } from '../local-mirror.js'
import type { Report } from '../reports/report.js'
import type { LockCheckObject, VerifyObject } from '../reports/schema.js'
import { verifyReport } from '../reports/verify/report.js'
import type { Verdict } from '../reports/verify/verdict.js'
import { resolveRange } from '../resolve-flags.js'
import { ProgressDisplay } from '../terminal/progress.js'

/** Candles of a series that -v shows beside the sums of their finer ones. */
const MAX_BESIDE = 20
const CHECKING = { start: 'Reading lists', verb: 'Checking', noun: 'window' }
const EXIT_CODES: Record<Verdict, ExitCode> = {
  ok: ExitCode.Done,
  empty: ExitCode.NoCandles,
  short: ExitCode.Done,
  incomplete: ExitCode.Incomplete,
  failed: ExitCode.VerificationFailed,
}

/**
 * `verify`: exit code 3 when windows are missing, 4 when there is no candle, 6 when something is wrong; with `fail-on-gaps` also 6 when
 * candles are missing.
 */
export async function runVerify(
  symbols: string[],
  flags: VerifyFlags,
  context: RunContext,
): Promise<(Report<VerifyObject> | Report<LockCheckObject>) & { exitCode: ExitCode }> {
  if (flags.lock !== undefined) return (await import('./lock.js')).runVerifyLock(symbols, flags, context)
  const { signal, progressStyle, warn, given } = context
  const { threads, 'fail-on-gaps': failOnGaps } = flags
  const now = systemClock.now()
  const text = resolveRange(flags, given)
  const range = Object.values(text).some(value => value !== undefined) ? parseRequestedRange(text, now) : undefined
  const { mirror, series } = await cachedSeries(symbols, flags, warn)
  const result = await ProgressDisplay.during(progressStyle, CHECKING, ({ advance }) =>
    verifySeries(mirror, series, { threads, range, now, warn, signal, progress: advance }),
  )
  const isBeside = ({ candles }: { candles: number }) => flags.verbose && candles <= MAX_BESIDE
  const sums = range ? result.series.filter(isBeside).flatMap(one => sumFiner(mirror, one, range, now)) : []
  const report = verifyReport(result, { ...flags, sums, failOnGaps, location: describeLocation(mirror, flags) })
  // Not a copy, which would make the large object for --json.
  return Object.assign(report, { exitCode: EXIT_CODES[report.verdict] })
}
