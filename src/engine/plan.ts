import { KlinesError } from '../candles/errors.js'
import type { Interval } from '../candles/intervals.js'
import { type Series, type WindowRef, windowName, windowOf } from '../candles/series.js'
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
import type { CachedWindow, Mirror } from '../mirror/mirror.js'
import { firstCandle } from '../mirror/status.js'
import { nothingCached } from '../mirror/user-mirrors.js'
import { reachesEnd } from '../mirror/window-state.js'
import { diffBatches } from '../rows/diff.js'
import { sourceRange } from '../rows/resampler.js'
import { checkMultiple, hasListingGrid, parseTargetInterval, type TargetInterval } from '../rows/target-interval.js'
import { FetchError } from '../sources/fetch-error.js'
import type { Source } from '../sources/source.js'
import { findOfMirror, findOfSource } from './find-windows.js'
import { fetchSymbols, request } from './lists.js'
import { refreshWindow } from './refresh.js'
import type { Run } from './run.js'
import { parseSelection, type SelectionRequest, selectOfMirror, selectOfSource } from './selection.js'
import { MAY_LAG_MS, type Plan, type SeriesPlan, type UnplannedSeries } from './windows.js'

/** Which candles, and what is made of them. */
export interface PlanRequest extends SelectionRequest, RangeText {
  /** Length of the candles to make of those that are read, such as `3h`, `2d` or `1q`. */
  readonly resample?: string | undefined
  /** Keep longer candles at both ends that are covered in part only. */
  readonly partial?: boolean | undefined
}

/**
 * The windows of a request: of the source up to the present, or of the mirror alone. `isTail`: only the last ones matter. Throws
 * `unknown_symbol`, `unknown_interval`, `bad_time`, `bad_range` and `bad_option` before any request; `window_missing` for a series that
 * the mirror lacks; what the lists of the source throw.
 */
export async function planRequest(asked: PlanRequest, run: Run, { isTail = false } = {}): Promise<Plan> {
  const selection = parseSelection(asked)
  const target = asked.resample === undefined ? undefined : parseTargetInterval(asked.resample)
  checkPartial(asked)
  checkRange(asked, run.now())
  if (selection.intervals !== 'all') checkResample(selection.intervals, target)
  await checkOrigin(run)
  const { series, gone } = isOnline(run)
    ? await selectOfSource(selection, run)
    : { series: selectOfMirror(selection, run), gone: [] }
  const range = parseRequestedRange(asked, await findPresent(asked, run))
  const intervals = series.map(({ interval }) => interval)
  checkResample(intervals, target)
  const anchors = new Map<SymbolName, number | undefined>()
  for (const { symbol } of target && hasListingGrid(target) ? series : [])
    if (!anchors.has(symbol)) anchors.set(symbol, await findAnchor(symbol, run))
  const plans = series.map(one => {
    if (target === undefined) return { series: one, label: one, range }
    const resampleTo = { ...target, anchor: anchors.get(one.symbol) }
    const label = { symbol: one.symbol, interval: resampleTo.name }
    return { series: one, label, resampleTo, range: sourceRange(one, resampleTo, range) }
  })
  return { range, series: await planSeries(plans, range, run, isTail), gone }
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
  const range = parseRequestedRange({}, await findPresent({}, run))
  const plans = all.flatMap(series => {
    const fromTime = parseDate(mirror.dates(series)[0])
    const isKnown = names.includes(series.symbol)
    return isKnown ? [{ series, label: series, range: { fromTime, toTime: Number.POSITIVE_INFINITY } }] : []
  })
  const gone = mirror.symbols().filter(symbol => !names.includes(symbol))
  return { range, series: await planSeries(plans, range, run), gone }
}

function isOnline(run: Run): run is Run<Source> {
  return run.source !== undefined
}

/** Throws `bad_option` for `partial` without `resample`: no option is ignored. */
export function checkPartial({ partial, resample }: Pick<PlanRequest, 'partial' | 'resample'>): void {
  if (!partial || resample !== undefined) return
  const message = '--partial keeps incomplete candles of another length, and none is requested.'
  throw new KlinesError('bad_option', message, { suggestions: ['Add --resample, or leave --partial out.'] })
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

/**
 * Compares one window of a folder that does not say its source with the same window of a source, before that becomes its source: candles
 * of two sources are never mixed. Throws `mirror_mismatch` and `unreachable`.
 */
export async function checkOrigin({ mirror, source, readOnly, signal, warn }: Run): Promise<void> {
  if (source === undefined || readOnly || mirror.source !== undefined) return
  const found = findWindow(mirror)
  if (found === undefined) return
  const { window, cached } = found
  const name = windowName(window)
  let fault = `${source.name} has no window ${name}`
  try {
    const fetched = await source.fetch(window, undefined, signal)
    if (fetched.bytes === undefined) throw new FetchError('invalid', 'status 304 for a request without a condition')
    const { added, changed, lost } = diffBatches(cached.batch, fetched.batch)
    const mayHaveMore = !reachesEnd(window, cached.batch.lastOpenTime)
    if (changed.length + lost.length === 0 && (added.length === 0 || mayHaveMore)) {
      warn(`${mirror.root} did not say where its candles come from; from now on it is a mirror of ${source.name}.`)
      return
    }
    fault = `${name} differs from that of ${source.name}`
  } catch (error) {
    if (!(error instanceof FetchError && error.status === 404)) await request(source, name, Promise.reject(error))
  }
  throw new KlinesError('mirror_mismatch', `${mirror.root} does not say where its candles come from, and ${fault}.`, {
    suggestions: ['Name another folder with --mirror.'],
    data: { mirror: mirror.root, baseUrl: source.name },
  })
}

/** The last whole window with candles of any series, else any window with candles. */
function findWindow(mirror: Mirror): { window: WindowRef; cached: CachedWindow } | undefined {
  let open: { window: WindowRef; cached: CachedWindow } | undefined
  for (const series of mirror.series()) {
    for (const startDate of mirror.dates(series).reverse()) {
      const window = windowOf(series, startDate)
      const cached = mirror.read(window)
      if (cached.state !== 'cached' || cached.batch.length === 0) continue
      if (reachesEnd(window, cached.batch.lastOpenTime)) return { window, cached }
      open ??= { window, cached }
    }
  }
  return open
}
