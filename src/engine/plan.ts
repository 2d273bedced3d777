import { KlinesError } from '../candles/errors.js'
import type { Interval } from '../candles/intervals.js'
import type { Series } from '../candles/series.js'
import { SYMBOLS, type SymbolName } from '../candles/symbols.js'
import {
  ALL_TIME,
  isRelativeRange,
  parseRange,
  parseRequestedRange,
  type RangeText,
  type RequestedRange,
} from '../candles/time-range.js'
import { parseDate } from '../candles/windows.js'
import { firstCandle } from '../mirror/status.js'
import { sourceRange } from '../rows/resampler.js'
import { checkMultiple, hasListingGrid, parseTargetInterval, type TargetInterval } from '../rows/target-interval.js'
import type { Source } from '../sources/source.js'
import { selectOfMirror, selectOfSource } from './choose-series.js'
import { nothingCached } from './errors.js'
import { findOfMirror, findOfSource } from './find-windows.js'
import { fetchSymbols, request } from './lists.js'
import { checkOrigin } from './origin.js'
import { refreshWindow } from './refresh.js'
import type { Run } from './run.js'
import { parseSelection, type SelectionRequest } from './selection.js'
import { MAY_LAG_MS, type Plan, type SeriesPlan, type UnplannedSeries } from './series-plan.js'

/** Which candles, and what is made of them. */
export interface PlanRequest extends SelectionRequest, RangeText {
  /** Length of the candles to make of those that are read, such as `3h`, `2d` or `1q`. */
  readonly resample?: string | undefined
  /** Keep longer candles at both ends that are covered in part only. */
  readonly partial?: boolean | undefined
}

/**
 * The windows of a request: of the source up to the present, or of the mirror alone. `isTail`: only the last ones matter. Throws `unknown_symbol`, `unknown_interval`,
 * `bad_time`, `bad_range` and `bad_option` before any request; `window_missing` for a series that the mirror lacks; what the lists of
 * the source throw.
 */
export async function planRequest(asked: PlanRequest, run: Run, { isTail = false } = {}): Promise<Plan> {
  const selection = parseSelection(asked)
  const target = asked.resample === undefined ? undefined : parseTargetInterval(asked.resample)
  if (asked.partial && target === undefined) throw nothingPartial()
  checkRange(asked, run.now())
  if (selection.intervals !== 'all') checkResample(selection.intervals, target)
  await checkOrigin(run)
  const { series, gone } = isOnline(run)
    ? await selectOfSource(selection, run)
    : { series: selectOfMirror(selection, run), gone: [] }
  const present = await findPresent(asked, run)
  const range = parseRequestedRange(asked, present)
  checkResample(
    series.map(({ interval }) => interval),
    target,
  )
  const anchors = new Map<SymbolName, number | undefined>()
  for (const { symbol } of target && hasListingGrid(target) ? series : [])
    if (!anchors.has(symbol)) anchors.set(symbol, await findAnchor(symbol, run))
  const plans = series.map(one => {
    const anchor = anchors.get(one.symbol)
    const resampleTo = target && { ...target, anchor }
    const label = resampleTo ? { symbol: one.symbol, interval: resampleTo.name } : one
    return { series: one, label, resampleTo, range: resampleTo ? sourceRange(one, resampleTo, range) : range }
  })
  return { range, series: await planSeries(plans, range, run, isTail), gone }
}

/**
 * When a 3d candle of a symbol opens, ms UTC: the grid is counted from it. Where neither the mirror nor this version knows one, the first
 * window with candles is downloaded.
 */
async function findAnchor(symbol: SymbolName, run: Run): Promise<number | undefined> {
  const series: Series = { symbol, interval: '3d' }
  const known = firstCandle(run.mirror, series)
  if (known !== undefined || (SYMBOLS as readonly string[]).includes(symbol) || !isOnline(run)) return known
  if (run.readOnly) return run.source.firstCandle?.(series, run.signal)
  const plan = { series, label: series, range: ALL_TIME }
  const [{ windows }] = await findOfSource([plan], parseRequestedRange({}, run.now()), run)
  for (const window of windows) {
    const result = await refreshWindow(run, window)
    if (result.status !== 'failed' && result.batch.firstOpenTime !== undefined) return result.batch.firstOpenTime
  }
  return undefined
}

/** The windows of series of which each has its own range. Throws what the lists of the source throw. */
export async function planSeries(
  series: readonly UnplannedSeries[],
  range: RequestedRange,
  run: Run,
  isTail = false,
): Promise<SeriesPlan[]> {
  const windows = isOnline(run) ? await findOfSource(series, range, run) : findOfMirror(series, range, run, isTail)
  return series.map((one, index) => ({ ...one, ...windows[index] }))
}

/** Every series of the mirror, from its first window to now. Throws `window_missing` for a mirror without a series. */
export async function planUpdate(run: Run<Source>): Promise<Plan> {
  const { mirror } = run
  const all = mirror.series()
  if (all.length === 0) throw nothingCached(`The mirror ${mirror.root} has no series yet.`, mirror)
  await checkOrigin(run)
  const { names } = await fetchSymbols(run)
  const present = await findPresent({}, run)
  const plans = all
    .filter(({ symbol }) => names.includes(symbol))
    .map(series => {
      const fromTime = parseDate(mirror.dates(series)[0])
      return { series, label: series, range: { fromTime, toTime: Number.POSITIVE_INFINITY } }
    })
  const range = parseRequestedRange({}, present)
  const gone = [...new Set(all.map(({ symbol }) => symbol))].filter(symbol => !names.includes(symbol))
  return { range, series: await planSeries(plans, range, run), gone }
}

function isOnline(run: Run): run is Run<Source> {
  return run.source !== undefined
}

function nothingPartial(): KlinesError {
  const message = '--partial keeps incomplete candles of another length, and none is requested.'
  return new KlinesError('bad_option', message, { suggestions: ['Add --resample, or leave --partial out.'] })
}

/** Throws `bad_time` and `bad_range`; whether a range that depends on the present is empty shows when the source's present is known. */
function checkRange(text: RangeText, now: number): void {
  try {
    parseRange(text, now)
  } catch (error) {
    if (!(error instanceof KlinesError && error.code === 'bad_range' && isRelativeRange(text))) throw error
  }
}

/** The exchange's clock, where the newest candles matter. */
async function findPresent(text: RangeText, { source, now, signal }: Run): Promise<number> {
  if (source?.rules.kind !== 'exchange') return now()
  const isOver = !isRelativeRange(text) && parseRange(text, now()).toTime < now() - MAY_LAG_MS
  return isOver ? now() : request(source, "the exchange's clock", source.now(signal))
}

/** Throws `bad_option` where candles do not fit, or several series would become the same one. */
function checkResample(intervals: readonly Interval[], target: TargetInterval | undefined): void {
  if (target === undefined) return
  for (const interval of intervals) checkMultiple(target, interval)
  const names = [...new Set(intervals)]
  if (names.length < 2) return
  const message = `${names.join(', ')} would all become the same ${target.name} candles. Expected one interval.`
  throw new KlinesError('bad_option', message)
}
