import pMap from 'p-map'
import { KlinesError } from '../klines/errors.js'
import { DAY_MS, EXCHANGE_INTERVALS, type Interval, isMinutes } from '../klines/intervals.js'
import { sourceRange } from '../klines/resample/resampler.js'
import {
  checkMultiple,
  hasListingGrid,
  isMultiple,
  parseTargetInterval,
  type TargetInterval,
  toTarget,
} from '../klines/resample/target-interval.js'
import { type Series, type SeriesLabel, seriesName, type WindowRef, windowOf } from '../klines/series.js'
import { isSymbolPattern, SYMBOLS, type SymbolName, unknownSymbols } from '../klines/symbols.js'
import { formatTime, plural } from '../klines/text.js'
import {
  ALL_TIME,
  isRelativeRange,
  parseRange,
  parseRequestedRange,
  type RangeText,
  type RequestedRange,
  type TimeRange,
} from '../klines/time-range.js'
import { consecutiveStartDates, parseDate, windowSpan } from '../klines/windows.js'
import { firstCandle, newestCandle } from '../mirror/status.js'
import { PUBLIC_BASE_URL } from '../sources/base-url.js'
import { InvalidSymbolError } from '../sources/exchange-errors.js'
import type { Source } from '../sources/source.js'
import { joinNames, nameService, noMinutes, nothingCached, otherSource } from './errors.js'
import { fetchStartDates, fetchSymbols, knownDates, knownSymbols, type ListedDates, request } from './lists.js'
import { checkOrigin } from './origin.js'
import { refreshWindow } from './refresh.js'
import type { Run } from './run.js'
import {
  combine,
  namesSymbols,
  parseSelection,
  type Selection,
  type SelectionRequest,
  selectedIntervals,
  selectSymbols,
} from './selection.js'

/** Which candles, and what is made of them. */
export interface PlanRequest extends SelectionRequest, RangeText {
  /** Length of the candles to make of those that are read, such as `3h`, `2d` or `1q`. */
  readonly resample?: string | undefined
  /** Keep longer candles at both ends that are covered in part only. */
  readonly partial?: boolean | undefined
}

/** The windows of one series that a range needs, ascending. */
export interface SeriesPlan {
  readonly series: Series
  /** The candles that come of it: the series itself, or longer ones. */
  readonly label: SeriesLabel
  /** Set when it is resampled. */
  readonly resampleTo?: TargetInterval | undefined
  /** Open times of the candles that are needed, ms UTC; those of the last longer candle may end after the requested range. */
  readonly range: TimeRange
  readonly windows: readonly WindowRef[]
  /** The first startDate that the source lists, if its list was needed: older cached windows stay as they are. */
  readonly listedFrom?: string | undefined
  /** When the first candle of the exchange opens, ms UTC, if it was asked for: windows before it are empty and need no request. */
  readonly firstCandle?: number | undefined
}

/** What a run needs. Plain data. */
export interface Plan {
  readonly range: RequestedRange
  /** In the order of the request. */
  readonly series: readonly SeriesPlan[]
  /** Symbols of the mirror that the source does not know any more: named at the end, exit 3. */
  readonly gone: readonly SymbolName[]
}

/** How long the newest candles of a range that ends now may lack: a static service is refreshed once a day. */
export const MAY_LAG_MS = 48 * 3_600_000

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

/** The series of a selection; `all` is what the source has. Of an exchange, that is what the mirror has. */
async function selectOfSource(
  selection: Selection,
  run: Run<Source>,
): Promise<{ series: Series[]; gone: SymbolName[] }> {
  const { source, mirror, warn } = run
  const intervals = selectedIntervals(selection)
  const minutes = source.name === PUBLIC_BASE_URL && intervals.find(isMinutes)
  if (minutes) throw noMinutes(minutes, nameService(source))
  const isExchange = source.rules.kind === 'exchange'
  if (namesSymbols(selection)) {
    const named = selectSymbols(selection, [])
    if (!isExchange) await checkNames(named, run)
    return { series: combine(named, intervals), gone: [] }
  }
  const mirrored = mirror.symbols()
  if (isExchange && selection.symbols === 'all' && mirrored.length === 0) throw nothingToUpdate(run)
  const { names } = await fetchSymbols(run)
  const isAll = selection.symbols === 'all'
  const available = isExchange && isAll ? mirrored.filter(symbol => names.includes(symbol)) : names
  const gone = mirrored.filter(symbol => !names.includes(symbol))
  const others = SYMBOLS.filter(symbol => !names.includes(symbol) && !gone.includes(symbol))
  if (!isExchange && isAll && others.length > 0)
    warn(`Not listed by the service, so not part of "all": ${joinNames(others)}.`)
  const symbols = selectSymbols(selection, available)
  return { series: combine(symbols, intervals), gone: gone.filter(symbol => isAll || matchesAny(selection, symbol)) }
}

function matchesAny(selection: Selection, symbol: SymbolName): boolean {
  try {
    return selectSymbols(selection, [symbol]).includes(symbol)
  } catch {
    // No name matches a pattern.
    return false
  }
}

/** Throws `unknown_symbol` for names that neither this version nor the mirror nor the list of the service knows. */
async function checkNames(named: readonly SymbolName[], run: Run<Source>): Promise<void> {
  const known = [...SYMBOLS, ...run.mirror.symbols()]
  if (named.every(symbol => known.includes(symbol))) return
  // A refused request stores nothing.
  const { names } = await fetchSymbols({ ...run, readOnly: true })
  const unknown = named.filter(symbol => !known.includes(symbol) && !names.includes(symbol))
  if (unknown.length > 0) throw unknownSymbols(unknown, names, run.source.name, otherSource(run.source.name))
}

function nothingToUpdate({ mirror, source }: Run<Source>): KlinesError {
  const message = `"all" stands for the symbols of the mirror, and ${mirror.root} has none yet.`
  const advice = `Name symbols, or a quoted pattern such as '*BTC'; klines symbols --base-url ${source.name} lists them.`
  return new KlinesError('bad_option', message, { suggestions: [advice] })
}

/** The series of a selection in the mirror; `all` and patterns stand for those that it has. */
function selectOfMirror(selection: Selection, { mirror, warn, isExchange }: Run): Series[] {
  const { symbols, intervals } = selection
  const all = selectedIntervals(selection, EXCHANGE_INTERVALS)
  const [cached, known] = [mirror.symbols(), knownSymbols(mirror)]
  if (namesSymbols(selection)) {
    const unknown = selectSymbols(selection, []).filter(symbol => !known.includes(symbol))
    if (unknown.length > 0 && isExchange && mirror.exists) {
      const near = unknownSymbols(unknown, cached, mirror.root).suggestions
      throw nothingCached(`The mirror ${mirror.root} does not have ${unknown.join(', ')}.`, mirror, near)
    }
    if (unknown.length > 0 && !isExchange)
      throw unknownSymbols(unknown, known, `the mirror ${mirror.root}`, otherSource(mirror.source))
  }
  if (!mirror.exists) throw nothingCached(`There is no mirror at ${mirror.root}.`, mirror)
  const isNamed = ({ symbol }: Series) => intervals !== 'all' && symbols !== 'all' && symbols.includes(symbol)
  const series = combine(selectSymbols(selection, cached), all).filter(one => isNamed(one) || mirror.has(one))
  const lacking = series.filter(one => !mirror.has(one))
  if (lacking.length > 0) throw notInMirror(lacking, mirror)
  if (series.length === 0) throw nothingCached(`The mirror ${mirror.root} has none of these series.`, mirror)
  const others = namesSymbols(selection)
    ? []
    : known.filter(symbol => !cached.includes(symbol) && (symbols === 'all' || matchesAny(selection, symbol)))
  if (others.length > 0) {
    const whole = symbols === 'all' ? 'all' : symbols.filter(isSymbolPattern).join(',') || 'all'
    warn(`Not in the mirror, so not part of "${whole}": ${joinNames(others)}.`)
  }
  return series
}

/** The error for named series that the mirror lacks; one that finer cached candles can be made into says how. */
function notInMirror(lacking: readonly Series[], mirror: Run['mirror']): KlinesError {
  const minutes = lacking.find(({ interval }) => isMinutes(interval) && mirror.symbols([interval]).length === 0)
  if (minutes && mirror.rules.kind !== 'exchange') return noMinutes(minutes.interval, `The mirror ${mirror.root}`)
  const [{ symbol, interval }] = lacking
  const finer = EXCHANGE_INTERVALS.find(
    part => isMultiple(toTarget(interval), part) && mirror.has({ symbol, interval: part }),
  )
  const advice = finer ? [`-i ${finer} --resample ${interval} makes them of the ${finer} candles that are there.`] : []
  return nothingCached(`Not in the mirror: ${lacking.map(seriesName).join(', ')}.`, mirror, advice)
}

type FoundWindows = Pick<SeriesPlan, 'windows' | 'listedFrom' | 'firstCandle'>
/** A series whose windows are not known yet. */
export type UnplannedSeries = Omit<SeriesPlan, keyof FoundWindows>

/** The windows of the source that have begun, and those that are cached whatever a list says. */
async function findOfSource(
  plans: readonly UnplannedSeries[],
  range: RequestedRange,
  run: Run<Source>,
): Promise<FoundWindows[]> {
  const { mirror, source } = run
  const lists = new Map<Interval, Promise<ListedDates>>()
  const found: FoundWindows[] = []
  for (const { series, range: needed } of plans) {
    const { interval } = series
    const cached = mirror.dates(series)
    const known = planWindows(
      series,
      [...knownDates(mirror, interval, range.now), ...cached],
      needed,
      Number.POSITIVE_INFINITY,
    )
    // What is cached to the last window needs no list: each window that can still change is asked for anyway.
    const isCached =
      needed.toTime < range.now && known.length > 0 && known.every(({ startDate }) => cached.includes(startDate))
    if (isCached && !run.refresh) found.push({ windows: known })
    else {
      const list = lists.get(interval) ?? fetchStartDates(run, interval)
      lists.set(interval, list)
      const { names, present } = await list
      const windows = planWindows(series, [...names, ...cached], needed, Math.max(present, range.now))
      found.push({ windows, listedFrom: names[0] })
    }
  }
  return source.firstCandle ? askFirstCandles(found, run) : found
}

/** Whether a window of a plan is over before the exchange has candles: it is empty without a request. */
export function isBeforeFirst({ firstCandle = Number.NEGATIVE_INFINITY }: FoundWindows, window: WindowRef): boolean {
  return windowSpan(window).endTime <= firstCandle
}

/** The windows of some dates that overlap a range and have begun by `present`, ms UTC. */
export function planWindows(
  series: Series,
  dates: readonly string[],
  { fromTime, toTime }: TimeRange,
  present: number,
): WindowRef[] {
  return [...new Set(dates)]
    .sort()
    .map(startDate => windowOf(series, startDate))
    .filter(window => {
      const { startTime, endTime } = windowSpan(window)
      return endTime > fromTime && startTime < toTime && startTime <= present
    })
}

/** Requests at once; the exchange's own limits hold back more. */
const FIRST_CANDLES_AT_ONCE = 16

/**
 * Asks an exchange for the first candle of each series of which a window before all cached candles is needed: windows before it are
 * empty. Throws `unknown_symbol` for all symbols that it does not know.
 */
async function askFirstCandles(plans: readonly FoundWindows[], run: Run<Source>): Promise<FoundWindows[]> {
  const { source, mirror, signal } = run
  const unknown = new Set<SymbolName>()
  const ask = async (plan: FoundWindows): Promise<FoundWindows> => {
    const { windows } = plan
    if (!needsFirstCandle(windows, run)) return plan
    try {
      return { ...plan, firstCandle: await source.firstCandle?.(windows[0], signal) }
    } catch (error) {
      // A cached symbol that the exchange does not know any more fails window by window, and never the others.
      if (!(error instanceof InvalidSymbolError)) await request(source, 'the first candle', Promise.reject(error))
      else if (!mirror.has(windows[0])) unknown.add(windows[0].symbol)
    }
    return plan
  }
  const asked = await pMap(plans, ask, { concurrency: FIRST_CANDLES_AT_ONCE })
  if (unknown.size === 0) return asked
  // Without names for suggestions the error is still right.
  const { names } = await fetchSymbols(run).catch(() => ({ names: [] }))
  throw unknownSymbols([...unknown], names, source.name)
}

/** Whether windows lie before the candles that are cached of a series, so that its first candle decides which of them are empty. */
export function needsFirstCandle(windows: readonly WindowRef[], { mirror, refresh }: Run): boolean {
  if (windows.length === 0) return false
  const cached = mirror.dates(windows[0])
  const facts = mirror.facts(windows[0])
  // A file without facts has candles, as far as anybody knows.
  const earliest = cached.find(date => !facts.has(date) || facts.get(date)?.first !== undefined)
  return windows.some(
    ({ startDate }) => (refresh || !cached.includes(startDate)) && !(earliest && startDate >= earliest),
  )
}

/** The windows of a mirror alone: from the first cached one, or the start that is named, to the last one, or the end that is named. */
function findOfMirror(
  plans: readonly UnplannedSeries[],
  range: RequestedRange,
  run: Run,
  isTail: boolean,
): FoundWindows[] {
  const { mirror, warn } = run
  const { endMoves, now } = range
  const begun: string[] = []
  const newest: number[] = []
  const windows = plans.map(({ series, range: needed }) => {
    const cached = mirror.dates(series)
    const [first, last] = [cached[0], cached[cached.length - 1]]
    if (first === undefined)
      return { windows: planWindows(series, knownDates(mirror, series.interval, now), needed, now) }
    const known = knownDates(mirror, series.interval, now)
    // Each series of a lock has its own range.
    const [isFromOpen, isToOpen] = [needed.fromTime === -Infinity, needed.toTime === Infinity]
    const fromTime = isFromOpen ? parseDate(first) : needed.fromTime
    const toTime = isToOpen ? windowSpan(windowOf(series, last)).endTime : needed.toTime
    const between = consecutiveStartDates(series.interval, first, parseDate(last))
    // The sample and bare folders have no source to get more from.
    if (isFromOpen && mirror.rules.kind !== 'fixed' && known.length > 0 && known[0] < first)
      begun.push(`${seriesName(series)} with ${first}`)
    if (isToOpen && isOutdated(series, known, cached, run))
      newest.push(newestCandle(mirror, series) ?? Number.NEGATIVE_INFINITY)
    const present = isToOpen ? Number.POSITIVE_INFINITY : now
    const mayLack = ({ startDate }: WindowRef) => endMoves && parseDate(startDate) > now - MAY_LAG_MS
    const all = planWindows(series, [...known, ...cached, ...between], { fromTime, toTime }, present)
    return { windows: all.filter(window => cached.includes(window.startDate) || !mayLack(window)) }
  })
  if (begun.length > 0 && !isTail)
    warn(`The mirror begins later than its source: ${joinNames(begun)}. klines download without --from has the rest.`)
  const latest = Math.max(...newest)
  if (Number.isFinite(latest)) {
    const age = plural(Math.max(0, Math.floor((now - latest) / DAY_MS)), 'day')
    warn(
      `The mirror ends with ${formatTime(latest)} UTC, ${age} ago; windows have begun since. klines download has them.`,
    )
  }
  return windows
}

/** Whether windows of a series have begun since anybody asked for them. Bare folders stay as they are. */
function isOutdated(
  series: Series,
  known: readonly string[],
  cached: readonly string[],
  { mirror, now }: Run,
): boolean {
  if (mirror.rules.kind === 'fixed') return false
  const facts = mirror.facts(series)
  const isUnknown = (date: string) => {
    const asked = facts.get(date)?.asked
    return asked === undefined ? !cached.includes(date) : asked < parseDate(date)
  }
  return known.some(date => date > cached[0] && parseDate(date) <= now() && isUnknown(date))
}
