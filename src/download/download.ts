import type { SeriesTotals } from '../klines/audit/gap-counter.js'
import type { WindowRef } from '../klines/series.js'
import type { RangeText, TimeRange } from '../klines/time-range.js'
import { type Plan, planSeries, type SeriesPlan } from './plan.js'
import { checkRange, requestRange } from './request-range.js'
import { parseSelection, type SelectionRequest } from './selection.js'
import { openSource } from './sources/open-source.js'
import type { SourceOptions } from './sources/source-options.js'
import type { KnownTotals, WindowSource, WindowStatus } from './sources/window-source.js'
import { type DownloadReport, DownloadTally, type TallyOptions } from './tally.js'
import { nextWindow, readWindows, streamWindows } from './window-stream.js'

/** Which candles, and where they come from. */
export interface KlinesRequest extends SelectionRequest, RangeText, SourceOptions {}

/** Candles to download into the mirror. */
export interface DownloadRequest extends KlinesRequest, Pick<TallyOptions, 'failOnGaps' | 'fingerprint'> {}

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
    const ranges = (await source.contents.series(selection, range)).map(series => ({ series, range }))
    return await downloadPlan(source, { range, series: await planSeries(source, ranges) }, request)
  } finally {
    await source.close()
  }
}

/** How a plan is downloaded. */
interface PlanOptions extends Pick<DownloadRequest, 'concurrency' | 'signal'>, TallyOptions {
  /** Finds windows that need not be read. */
  readonly findCounted?: (window: WindowRef) => KnownTotals | undefined
}

/** Downloads every window of a plan, in order. Throws `incomplete` or `no_candles` after all were tried. */
export async function downloadPlan(source: WindowSource, plan: Plan, options: PlanOptions): Promise<DownloadReport> {
  const tally = new DownloadTally(source, plan, options)
  await downloadSeries(source, plan.series, tally, options)
  return tally.report()
}

/** Downloads the windows of some series of the plan of a tally, in order. */
export async function downloadSeries(
  source: WindowSource,
  all: readonly SeriesPlan[],
  tally: DownloadTally,
  { concurrency, signal, findCounted }: Pick<PlanOptions, 'concurrency' | 'signal' | 'findCounted'>,
): Promise<void> {
  const counted = findAllCounted(source, all, findCounted)
  const runs = all.map(({ range, windows }) => ({ range, windows: windows.filter(one => !counted.has(one)) }))
  const streamed = source.info.offline
    ? readWindows(source, runs, signal)
    : streamWindows(source, runs, { concurrency, signal })
  try {
    for (const series of all) {
      for (const window of series.windows) {
        const known = counted.get(window)
        if (known) tally.addCounted(series, window, known.status, known)
        else tally.add(series, await nextWindow(streamed))
      }
    }
  } finally {
    await streamed.return(undefined)
  }
}

/** The windows of series that were counted before and need no request, if the plan needs all of their candles. */
function findAllCounted(
  source: WindowSource,
  all: readonly SeriesPlan[],
  find: PlanOptions['findCounted'],
): Map<WindowRef, KnownTotals & { readonly status: WindowStatus }> {
  const found = new Map<WindowRef, KnownTotals & { readonly status: WindowStatus }>()
  for (const { range, windows } of all) {
    for (const window of windows) {
      const counted = find?.(window)
      const status = counted && isInside(range, counted.totals) && source.statusWithoutReading(window, counted)
      if (status) found.set(window, { ...counted, status })
    }
  }
  return found
}

function isInside(
  { fromTime, toTime }: TimeRange,
  { firstOpenTime = fromTime, lastOpenTime = fromTime }: SeriesTotals,
) {
  return firstOpenTime >= fromTime && lastOpenTime < toTime
}
