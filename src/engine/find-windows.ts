import pMap from 'p-map'
import type { Interval } from '../candles/intervals.js'
import { seriesName, type WindowRef, windowOf } from '../candles/series.js'
import { type SymbolName, unknownSymbols } from '../candles/symbols.js'
import { formatDuration, formatTime } from '../candles/text.js'
import { MAY_LAG_MS, planWindows, type RequestedRange } from '../candles/time-range.js'
import { consecutiveStartDates, parseDate, windowSpan } from '../candles/windows.js'
import { joinNames } from '../mirror/errors.js'
import { knownDates, newestCandle } from '../mirror/status.js'
import { request } from '../sources/errors.js'
import { InvalidSymbolError } from '../sources/exchange-api.js'
import type { Source } from '../sources/source.js'
import { fetchStartDates, fetchSymbols } from './lists.js'
import type { Run, SeriesPlan, UnplannedSeries } from './run.js'

/** The windows of the source that have begun, and those that are cached whatever a list says. */
export async function findOfSource(
  plans: readonly UnplannedSeries[],
  range: RequestedRange,
  run: Run<Source>,
): Promise<SeriesPlan[]> {
  const { mirror, source } = run
  const lists = new Map<Interval, ReturnType<typeof fetchStartDates>>()
  const found: SeriesPlan[] = []
  for (const plan of plans) {
    const { series, range: needed } = plan
    const { interval } = series
    const cached = new Set(mirror.dates(series))
    const known = planWindows(series, [...knownDates(mirror, interval, range.now), ...cached], needed, Infinity)
    // What is cached to the last window needs no list: each window that can still change is asked for anyway.
    const isOver = needed.toTime < range.now && !run.refresh
    if (isOver && known.length > 0 && known.every(({ startDate }) => cached.has(startDate))) {
      found.push({ ...plan, windows: known })
      continue
    }
    const list = lists.get(interval) ?? fetchStartDates(run, interval)
    lists.set(interval, list)
    const { names, present } = await list
    const windows = planWindows(series, [...names, ...cached], needed, Math.max(present, range.now))
    found.push({ ...plan, windows, listedFrom: names[0] })
  }
  return source.firstCandle ? askFirstCandles(found, run) : found
}

/**
 * Asks an exchange for the first candle of each series of which a window before all cached candles is needed. Throws `unknown_symbol` for
 * all symbols that it does not know.
 */
async function askFirstCandles(plans: readonly SeriesPlan[], run: Run<Source>): Promise<SeriesPlan[]> {
  const { source, mirror, signal } = run
  const unknown = new Set<SymbolName>()
  const ask = async (plan: SeriesPlan): Promise<SeriesPlan> => {
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
  const asked = await pMap(plans, ask, { concurrency: run.concurrency })
  if (unknown.size === 0) return asked
  // Without names for suggestions the error is still right.
  const { names } = await fetchSymbols(run).catch(() => ({ names: [] }))
  throw unknownSymbols([...unknown], names, source.name)
}

/** Whether windows lie before the candles that are cached of a series, so that its first candle decides which of them are empty. */
export function needsFirstCandle(windows: readonly WindowRef[], { mirror, refresh }: Run): boolean {
  if (windows.length === 0) return false
  const cached = new Set(mirror.dates(windows[0]))
  const facts = mirror.facts(windows[0])
  // A file without facts has candles, as far as anybody knows.
  const earliest = [...cached].find(date => !facts.has(date) || facts.get(date)?.first !== undefined)
  const isAsked = (date: string) => refresh || !cached.has(date)
  return windows.some(({ startDate }) => isAsked(startDate) && !(earliest && startDate >= earliest))
}

/** The windows of a mirror alone: from the first cached one, or the start that is named, to the last one, or the end that is named. */
export function findOfMirror(
  plans: readonly UnplannedSeries[],
  { endMoves, now }: RequestedRange,
  { mirror, warn }: Run,
  isTail = false,
): SeriesPlan[] {
  // The sample and bare folders have no source to get more from.
  const hasSource = mirror.rules.kind !== 'fixed'
  const begun: string[] = []
  let latest = -Infinity
  const intervals = new Set<Interval>()
  const lists = new Map<Interval, readonly string[]>()
  const found = plans.map(plan => {
    const { series, range } = plan
    const { fromTime, toTime } = range
    const cached = mirror.dates(series)
    const known = lists.get(series.interval) ?? knownDates(mirror, series.interval, now)
    lists.set(series.interval, known)
    const [first, last] = [cached[0], cached[cached.length - 1]]
    const isCached = new Set(cached)
    if (first === undefined) return { ...plan, windows: planWindows(series, known, range, now) }
    const [isFromOpen, isToOpen] = [fromTime === -Infinity, toTime === Infinity]
    if (hasSource && isFromOpen && known[0] < first) begun.push(`${seriesName(series)} with ${first}`)
    const facts = mirror.facts(series)
    /** Whether a window has begun since anybody asked for it. */
    const isNew = (date: string) => {
      const asked = facts.get(date)?.asked
      return asked === undefined ? !isCached.has(date) : asked < parseDate(date)
    }
    if (hasSource && isToOpen && known.some(date => date > first && parseDate(date) <= now && isNew(date))) {
      latest = Math.max(latest, newestCandle(mirror, series) ?? latest)
      intervals.add(series.interval)
    }
    const between = consecutiveStartDates(series.interval, first, parseDate(last))
    const needed = {
      fromTime: isFromOpen ? parseDate(first) : fromTime,
      toTime: isToOpen ? windowSpan(windowOf(series, last)).endTime : toTime,
    }
    const all = planWindows(series, [...known, ...cached, ...between], needed, isToOpen ? Infinity : now)
    const mayLack = (date: string) => endMoves && parseDate(date) > now - MAY_LAG_MS
    return { ...plan, windows: all.filter(({ startDate }) => isCached.has(startDate) || !mayLack(startDate)) }
  })
  if (begun.length > 0 && !isTail)
    warn(`The mirror begins later than its source: ${joinNames(begun)}. klines download without --from has the rest.`)
  if (Number.isFinite(latest)) {
    const age = `${formatDuration(now - latest)} ago`
    const candles = intervals.size === 1 ? `${[...intervals][0]} candles` : 'Candles'
    warn(`${candles} end ${formatTime(latest)}, ${age}; klines update fetches newer ones.`)
  }
  return found
}
