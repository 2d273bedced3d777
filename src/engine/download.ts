import { type PlanRequest, planRequest, planUpdate } from './plan.js'
import { openWindows, readCandles } from './read.js'
import { checkGone, type DownloadReport, type ReportOptions, SeriesFingerprints, Tally } from './report.js'
import { openRun, type Run, type SourceOptions, withRun } from './run.js'
import type { Plan } from './series-plan.js'

/** Candles to download into the mirror. */
export interface DownloadRequest extends PlanRequest, SourceOptions, ReportOptions {}

/** How a mirror is updated: its series are those that are there or were. */
export interface UpdateRequest extends SourceOptions, ReportOptions {}

/**
 * Downloads every window of a range that the mirror lacks or that can still change. Throws `incomplete` when a window could not be
 * downloaded (the others are in the mirror then), `no_candles` when the range has none, `unreachable`, `rate_limited`,
 * `mirror_unusable`, or what is wrong with the request.
 *
 * @example
 * const { series } = await downloadKlines({ symbols: ['BTCUSDT'], intervals: ['1d'], last: '1y' })
 */
export function downloadKlines(request: DownloadRequest): Promise<DownloadReport> {
  return withRun(openRun(request), async run => downloadPlan(await planRequest(request, run), run, request))
}

/**
 * Downloads what every series that a mirror has or had lacks or can still change, from its first window to now. Throws what
 * `downloadKlines` throws, and `window_missing` for a mirror without a series.
 */
export function updateKlines(request: UpdateRequest = {}): Promise<DownloadReport> {
  return withRun(openRun(request), async run => downloadPlan(await planUpdate(run), run, request))
}

/** Makes all windows of a plan current, or reads them, and counts their candles. Throws `incomplete` or `no_candles` after all were tried. */
export async function downloadPlan(
  plan: Plan,
  run: Run,
  options: ReportOptions = {},
  forExport = false,
): Promise<DownloadReport> {
  const tally = new Tally(plan, run)
  const fingerprints = options.fingerprint && !forExport ? new SeriesFingerprints() : undefined
  const windows = openWindows(run, plan.series)
  try {
    for (const one of plan.series) {
      const fingerprinter = fingerprints?.of(one)
      for await (const batch of readCandles(windows, one, tally)) fingerprinter?.add(batch)
    }
  } finally {
    await windows.return(undefined)
  }
  const report = tally.report(options, forExport)
  if (!forExport) checkGone(plan, run)
  return fingerprints ? { ...report, fingerprints: fingerprints.report() } : report
}
