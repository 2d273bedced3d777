import { parseSelectionText } from '../../engine/selection.js'
import { quoteWord } from '../../klines/text.js'
import { PUBLIC_BASE_URL } from '../../sources/base-url.js'
import type { Verdict } from '../../verify/verdict.js'
import { verifyKlines } from '../../verify/verify.js'
import type { RunContext } from '../base-command.js'
import { ExitCode } from '../error-report.js'
import type { VerifyFlags } from '../flags/verify.js'
import type { Report } from '../reports/report.js'
import type { LockCheckObject, VerifyObject } from '../reports/schema.js'
import { verifyReport } from '../reports/verify/report.js'
import { resolveRange } from '../resolve-flags.js'
import { ProgressDisplay } from '../terminal/progress.js'

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
  const { interval, mirror, threads, verbose: sums, 'base-url': baseUrl, 'fail-on-gaps': failOnGaps } = flags
  const request = { ...parseSelectionText(symbols, interval), ...resolveRange(flags, given), baseUrl, mirror }
  const result = await ProgressDisplay.during(progressStyle, CHECKING, ({ events }) =>
    verifyKlines({ ...request, threads, failOnGaps, sums, signal, onEvent: events(warn) }),
  )
  const report = verifyReport(result, { ...flags, location: describeLocation(result.baseUrl, flags) })
  // Not a copy, which would make the large object for --json.
  const isMissing = failOnGaps && result.verdict === 'incomplete'
  return Object.assign(report, { exitCode: isMissing ? ExitCode.VerificationFailed : EXIT_CODES[result.verdict] })
}

/** The flags for a download into the mirror. A base address that is not the default one names it, too. */
function describeLocation(baseUrl: string | undefined, { mirror }: VerifyFlags): string {
  const source = baseUrl === undefined || baseUrl === PUBLIC_BASE_URL ? [] : [` --base-url ${quoteWord(baseUrl)}`]
  return [...source, ...(mirror === undefined ? [] : [` --mirror ${quoteWord(mirror)}`])].join('')
}
