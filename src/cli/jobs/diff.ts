import { compareSides, openDiff } from '../../identity/diff.js'
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
  const request = { sides: [a, b], symbols, intervals: interval, ...resolveRange(flags, given) } as const
  const diff = await ProgressDisplay.during(progressStyle, DOWNLOADING, ({ events }) =>
    openDiff({ ...request, signal, ...toFetchOptions(flags), onEvent: events(warn) }),
  )
  try {
    const found = await ProgressDisplay.during(progressStyle, COMPARING, ({ advance }) =>
      compareSides(diff, MAX_LISTED, advance),
    )
    const report = diffReport(diff, found, verbose)
    await show(report)
    return EXIT_CODES[report.verdict]
  } finally {
    await diff.close()
  }
}
