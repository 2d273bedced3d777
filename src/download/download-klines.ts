import { parseRange, type RangeText } from '../klines/time-range.js'
import { systemClock } from '../service/system-clock.js'
import { openServiceSource, type SourceOptions } from './open-source.js'
import { type Plan, planSeries } from './plan.js'
import { parseSelection } from './selection.js'
import { type DownloadReport, type Progress, Settlement } from './settlement.js'
import type { WindowSource } from './window-source.js'
import { streamOf } from './window-stream.js'

/** Which candles. Names as people write them, `all` for all there are; times as `parseInstant` takes them. */
export interface KlinesRequest extends SourceOptions, RangeText {
  readonly symbols: readonly string[]
  readonly intervals: readonly string[]
}

/**
 * Brings every window of a range into the mirror that is not final there. Throws `incomplete` when one could not be had
 * (the others are in the mirror then), `no_candles` when there is none in the range, `unreachable`, `stay_away`,
 * `mirror_unusable`, or what the request itself has wrong.
 */
export async function downloadKlines(request: KlinesRequest, progress?: Progress): Promise<DownloadReport> {
  const selection = parseSelection(request.symbols, request.intervals)
  const range = parseRange(request, request.now ?? systemClock.now())
  const source = await openServiceSource(request)
  try {
    const plan = await planSeries(source, await source.series(selection), range)
    return await settlePlan(source, plan, request, progress)
  } finally {
    await source.close()
  }
}

/** Has every window of a plan, sound and in order. Throws `incomplete` or `no_candles` after all were tried. */
export async function settlePlan(
  source: WindowSource,
  plan: Plan,
  options: SourceOptions,
  progress?: Progress,
): Promise<DownloadReport> {
  const settlement = new Settlement(source, plan, progress)
  const results = streamOf(
    source,
    plan.series.flatMap(({ windows }) => windows),
    options,
  )
  for await (const result of results) settlement.take(result)
  return settlement.report()
}
