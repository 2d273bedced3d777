import { type DiffRequest, isService, openDiff, type SideRequest } from '../../diff/diff.js'
import { systemClock } from '../../http/system-clock.js'
import { parseRequestedRange } from '../../klines/time-range.js'
import type { RunContext } from '../base-command.js'
import { ExitCode } from '../error-report.js'
import type { DiffArgs, DiffFlags } from '../flags/diff.js'
import { toFetchOptions } from '../flags/service.js'
import { type DiffReport, type DiffVerdict, diffReport, MAX_LISTED } from '../reports/diff.js'
import { resolveRange } from '../resolve-flags.js'
import { ProgressDisplay } from '../terminal/progress.js'

const DOWNLOADING = { start: 'Reading both sides', verb: 'Downloading', noun: 'window' }
const COMPARING = { start: 'Comparing', verb: 'Comparing', noun: 'series' }

const EXIT_CODES: Record<DiffVerdict, ExitCode> = {
  equal: ExitCode.Done,
  different: ExitCode.VerificationFailed,
  incomplete: ExitCode.Incomplete,
  empty: ExitCode.NoCandles,
}

/**
 * `diff`: exit code 0 when both sides have the same candles, 6 when they differ, 3 when all that can be compared is equal and windows are
 * missing, 4 without a candle. `show` prints the report while both sides are open: with `verbose`, it reads them again.
 */
export async function runDiff(
  { a, b, symbol: symbols = [] }: DiffArgs,
  flags: DiffFlags,
  { given, signal, warn, progressStyle }: RunContext,
  show: (report: DiffReport) => Promise<void>,
): Promise<ExitCode> {
  const { interval = [], verbose } = flags
  const range = parseRequestedRange(resolveRange(flags, given), systemClock.now())
  const compare = async (...sides: DiffRequest['sides']) => {
    const request = { sides, symbols, intervals: interval, range, signal, ...toFetchOptions(flags) }
    const diff = await ProgressDisplay.during(progressStyle, DOWNLOADING, ({ events }) =>
      openDiff({ ...request, onEvent: events(warn) }),
    )
    try {
      const found = await ProgressDisplay.during(progressStyle, COMPARING, ({ advance }) =>
        diff.compare(MAX_LISTED, advance),
      )
      const report = diffReport(diff, found, verbose)
      await show(report)
      return EXIT_CODES[report.verdict]
    } finally {
      await diff.close()
    }
  }
  return compare(toSide(a), toSide(b))
}

/** A path, or the address of a service. */
function toSide(name: string): SideRequest {
  return isService(name) ? { name, baseUrl: name } : { name }
}
