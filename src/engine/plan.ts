import { KlinesError } from '../candles/errors.js'
import type { Interval } from '../candles/intervals.js'
import { parseSelection, type SelectionRequest } from '../candles/selection.js'
import { type Series, type WindowRef, windowName, windowOf } from '../candles/series.js'
import {
  isRelativeRange,
  MAY_LAG_MS,
  parseRange,
  parseRequestedRange,
  type RangeText,
  timeBefore,
} from '../candles/time-range.js'
import { parseDate } from '../candles/windows.js'
import type { Mirror } from '../mirror/mirror.js'
import { listingAnchor } from '../mirror/status.js'
import { nothingCached } from '../mirror/user-mirrors.js'
import { reachesEnd } from '../mirror/window-state.js'
import { diffBatches } from '../rows/diff.js'
import { sourceRange } from '../rows/resampler.js'
import { checkMultiple, hasListingGrid, parseTargetInterval, type TargetInterval } from '../rows/target-interval.js'
import { request } from '../sources/errors.js'
import type { Source } from '../sources/source.js'
import { findOfMirror, findOfSource } from './find-windows.js'
import { fetchSymbols } from './lists.js'
import { isOnline, type Plan, type Run } from './run.js'
import { selectOfMirror, selectOfSource } from './selection.js'

/** Which candles, and what is made of them. */
export interface PlanRequest extends SelectionRequest, RangeText {
  /** Length of the candles to make of those that are read, such as `3h`, `2d` or `1q`. */
  readonly resample?: string | undefined
  /** Keep longer candles at both ends that are covered in part only. */
  readonly partial?: boolean | undefined
}

/**
 * The windows of a request: of the source up to the present, or of the mirror alone. `isTail`: only the last ones matter. `check` is called
 * with the series before anything is asked for each of them.
 */
export async function planRequest(
  asked: PlanRequest,
  run: Run,
  { isTail = false, check = (_: readonly Series[]) => {} } = {},
): Promise<Plan> {
  const selection = parseSelection(asked)
  const target = asked.resample === undefined ? undefined : parseTargetInterval(asked.resample)
  if (asked.partial && target === undefined) {
    const message = '--partial keeps incomplete candles of another length, and none is requested.'
    throw new KlinesError('bad_option', message, { suggestions: ['Add --resample, or leave --partial out.'] })
  }
  await checkOrigin(run)
  const { series, gone } = isOnline(run)
    ? await selectOfSource(selection, run)
    : { series: selectOfMirror(selection, run), gone: [] }
  check(series)
  if (target) checkResample([...new Set(series.map(({ interval }) => interval))], target)
  const range = parseRequestedRange(asked, await presentOf(run, asked))
  const plans = series.map(one => {
    if (target === undefined) return { series: one, label: one, range }
    const anchor = hasListingGrid(target) ? listingAnchor(run.mirror, one.symbol) : undefined
    const resampleTo = { ...target, anchor }
    const label = { symbol: one.symbol, interval: resampleTo.name }
    return { series: one, label, resampleTo, range: sourceRange(one, resampleTo, range) }
  })
  const planned = isOnline(run) ? await findOfSource(plans, range, run) : findOfMirror(plans, range, run, isTail)
  return { range, series: planned, gone }
}

/** Every series of the mirror, from its first window to now. Throws `window_missing` for a mirror without a series, and `bad_time`. */
export async function planUpdate(run: Run<Source>, { maxAge }: { maxAge?: string | undefined }): Promise<Plan> {
  const { mirror } = run
  // A wrong one is refused before anything is downloaded.
  if (maxAge !== undefined) timeBefore(run.now(), maxAge)
  const all = mirror.series()
  if (all.length === 0) throw nothingCached(`The mirror ${mirror.root} has no series yet.`, mirror)
  await checkOrigin(run)
  const { names } = await fetchSymbols(run)
  const range = parseRequestedRange({}, await presentOf(run))
  const known = all.filter(({ symbol }) => names.includes(symbol))
  const plans = known.map(series => {
    return { series, label: series, range: { fromTime: parseDate(mirror.dates(series)[0]), toTime: Infinity } }
  })
  const gone = mirror.symbols().filter(symbol => !names.includes(symbol))
  return { range, series: await findOfSource(plans, range, run), gone }
}

/** The present by the clock that says which candles have closed: the exchange's, where the newest ones matter; ms UTC. */
export async function presentOf({ source, now, signal }: Run, text: RangeText = {}): Promise<number> {
  if (source?.rules.kind !== 'exchange') return now()
  const isOver = !isRelativeRange(text) && parseRange(text, now()).toTime < now() - MAY_LAG_MS
  return isOver ? now() : request(source, "the exchange's clock", source.now(signal))
}

/** Throws `bad_option` where candles do not fit, or several series would become the same one. */
function checkResample(intervals: readonly Interval[], target: TargetInterval): void {
  for (const interval of intervals) checkMultiple(target, interval)
  if (intervals.length < 2) return
  const message = `${intervals.join(', ')} would all become the same ${target.name} candles. Expected one interval.`
  throw new KlinesError('bad_option', message)
}

/**
 * Compares one window of a folder that does not say its source with that of a source, before that becomes its source: candles of two
 * sources are never mixed. Throws `mirror_mismatch`.
 */
export async function checkOrigin({ mirror, source, readOnly, signal, warn }: Run): Promise<void> {
  if (source === undefined || readOnly || mirror.source !== undefined) return
  const window = findWindow(mirror)
  const cached = window && mirror.read(window)
  if (window === undefined || cached?.state !== 'cached') return
  const name = windowName(window)
  const fetched = await request(source, name, source.fetch(window, undefined, signal)).catch(error => {
    if (error.data?.status !== 404) throw error
  })
  const change = fetched?.bytes && diffBatches(cached.batch, fetched.batch)
  if (change && change.changed.length + change.lost.length === 0) {
    warn(`${mirror.root} did not say where its candles come from; from now on it is a mirror of ${source.name}.`)
    return
  }
  const fault = `${name} differs from that of ${source.name}`
  throw new KlinesError('mirror_mismatch', `${mirror.root} does not say where its candles come from, and ${fault}.`, {
    suggestions: ['Name another folder with --mirror.'],
    data: { mirror: mirror.root, baseUrl: source.name },
  })
}

function findWindow(mirror: Mirror): WindowRef | undefined {
  const windowsOf = (one: Series) => mirror.dates(one).map(date => windowOf(one, date))
  const newest = mirror.series().flatMap(one => windowsOf(one).reverse())
  const lastOf = (window: WindowRef) => mirror.ends(window).last
  return newest.find(one => reachesEnd(one, lastOf(one))) ?? newest.find(one => lastOf(one) !== undefined)
}
