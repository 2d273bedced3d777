import { verifyKlines } from '../../verify/verify.js'
import type { RunContext } from '../base-command.js'
import { ExitCode } from '../exit-codes.js'
import type { TableFlags } from '../flags.js'
import { cachedSeries } from '../local-mirror.js'
import type { Report } from '../reports/report.js'
import { verifyReport } from '../reports/verify.js'
import { ProgressDisplay } from '../terminal/progress.js'

const CHECKING = { start: 'Checking series', verb: 'Checking', noun: 'series' }

/** `verify`: exit code 6 when something is wrong, with `fail-on-gaps` also when candles are missing. */
export async function runVerify(
  symbols: string[],
  flags: TableFlags & { verbose: boolean; audit: boolean; 'fail-on-gaps': boolean },
  { signal, progressStyle, warn }: RunContext,
): Promise<Report & { exitCode: ExitCode }> {
  const { mirror, series } = await cachedSeries(symbols, flags, warn)
  const result = await ProgressDisplay.during(progressStyle, CHECKING, ({ advance }) =>
    verifyKlines(mirror, series, { audit: flags.audit, signal, progress: advance }),
  )
  const { json, text, isFaulty, hasGaps } = verifyReport(result, flags)
  const hasFailed = isFaulty || (hasGaps && flags['fail-on-gaps'])
  return { json, text, exitCode: hasFailed ? ExitCode.VerificationFailed : ExitCode.Done }
}
