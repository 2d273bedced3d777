import { systemClock } from '../http/system-clock.js'
import { parseRange, type RangeText } from '../klines/time-range.js'
import { openServiceSource, type SourceOptions } from './open-source.js'
import { type Plan, planSeries } from './plan.js'
import { parseSelection } from './selection.js'
import { type DownloadReport, DownloadTally, type Progress } from './tally.js'
import type { WindowSource } from './window-source.js'
import { streamOf } from './window-stream.js'

/** Which candles. Names as people write them, `all` for all there are; times as `parseInstant` takes them. */
export interface KlinesRequest extends SourceOptions, RangeText {
  readonly symbols: readonly string[]
  readonly intervals: readonly string[]
}

/**
 * Brings every window of a range into the mirror that is not final there. Throws `incomplete` when one could not be had
 * (the others are in the mirror then), `no_candles` when there is none in the range, `unreachable`, `rate_limited`,
 * `mirror_unusable`, or what the request itself has wrong.
 */
export async function downloadKlines(request: KlinesRequest, progress?: Progress): Promise<DownloadReport> {
  const selection = parseSelection(request.symbols, request.intervals)
  const range = parseRange(request, request.now ?? systemClock.now())
  const source = await openServiceSource(request)
  try {
    const plan = await planSeries(source, await source.series(selection), range)
    return await downloadPlan(source, plan, request, progress)
  } finally {
    await source.close()
  }
}

/** Has every window of a plan, sound and in order. Throws `incomplete` or `no_candles` after all were tried. */
export async function downloadPlan(
  source: WindowSource,
  plan: Plan,
  options: SourceOptions,
  progress?: Progress,
): Promise<DownloadReport> {
  const settlement = new DownloadTally(source, plan, progress)
  const results = streamOf(
    source,
    plan.series.flatMap(({ windows }) => windows),
    options,
  )
  for await (const result of results) settlement.take(result)
  return settlement.report()
}
