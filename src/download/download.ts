import type { RangeText } from '../klines/time-range.js'
import { type Plan, planSeries } from './plan.js'
import { checkRange, requestRange } from './request-range.js'
import { parseSelection, type SelectionRequest } from './selection.js'
import { openSource, type SourceOptions } from './sources/open-source.js'
import type { WindowSource } from './sources/window-source.js'
import { type DownloadReport, DownloadTally, type ProgressCallbacks } from './tally.js'
import { streamWindows } from './window-stream.js'

/** Which candles, and where they come from. */
export interface KlinesRequest extends SelectionRequest, RangeText, SourceOptions {}

/** Candles to download into the mirror. */
export interface DownloadRequest extends KlinesRequest, ProgressCallbacks {}

/**
 * Downloads every window of a range that the mirror lacks or that can still change. Throws `incomplete` when a window could
 * not be downloaded (the others are in the mirror then), `no_candles` when the range has none, `unreachable`, `rate_limited`,
 * `mirror_unusable`, or what is wrong with the request.
 *
 * @example
 * const { series } = await downloadKlines({ symbols: ['BTCUSDT'], intervals: ['1d'], last: '1y' })
 */
export async function downloadKlines(request: DownloadRequest): Promise<DownloadReport> {
  const selection = parseSelection(request)
  checkRange(request)
  const source = await openSource(request)
  try {
    const range = await requestRange(request, source)
    const ranges = (await source.series(selection, range)).map(series => ({ series, range }))
    return await downloadPlan(source, await planSeries(source, ranges, range), request)
  } finally {
    await source.close()
  }
}

/** How a plan is downloaded. */
interface PlanOptions extends Pick<DownloadRequest, 'concurrency' | 'signal'>, ProgressCallbacks {
  /** Whether it is for an export, which an error says. */
  readonly forExport?: boolean
}

/** Downloads every window of a plan, in order. Throws `incomplete` or `no_candles` after all were tried. */
export async function downloadPlan(
  source: WindowSource,
  plan: Plan,
  { concurrency, signal, planned, progress, forExport }: PlanOptions,
): Promise<DownloadReport> {
  const tally = new DownloadTally(source, plan, { planned, progress, forExport })
  for await (const { run, result } of streamWindows(source, plan.series, { concurrency, signal }))
    tally.add(run, result)
  return tally.report()
}
