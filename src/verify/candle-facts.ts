import { findListing } from '../download/listing.js'
import type { MirrorSourceContents } from '../download/sources/mirror-source-contents.js'
import type { Listing } from '../klines/audit/coverage.js'
import { findGaps, type Gap } from '../klines/audit/gaps.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { mayBeOffGrid } from '../klines/candle-times.js'
import { nextOpenTime } from '../klines/intervals.js'
import { buildSeriesGrid } from '../klines/resample/candle-grid.js'
import type { Series, WindowRef } from '../klines/series.js'
import type { SymbolName } from '../klines/symbols.js'
import type { Mirror } from '../mirror/mirror.js'
import { CachedSeries } from './cached-series.js'
import { type CandlePlace, type FinerSum, sumFiner } from './finer-sum.js'

/**
 * What is at a time of a series: a candle, a `gap` between two, nothing yet `before` the first or `after` the last one, a time that is
 * not over (`open`), a window that may have got candles since it was downloaded (`unsettled`), is not cached (`missing`) or `corrupt`.
 */
export type TimeState = 'candle' | 'gap' | 'before' | 'after' | 'open' | 'unsettled' | 'missing' | 'corrupt'

/** A gap, and which other symbols of the mirror lack candles of the same length at that time. */
export interface SharedGap extends Gap {
  readonly lacking: readonly SymbolName[]
  /** How many other symbols have candles before and after it. */
  readonly compared: number
}

/** What a mirror knows of the candle at a time. Times in ms UTC. */
export interface CandleFacts extends CandlePlace {
  readonly time: number
  readonly state: TimeState
  /** The window of the candle, or the one in which it would open; undefined before the first one of the interval. */
  readonly window: WindowRef | undefined
  /** The startDate of the first window of the interval. */
  readonly firstStartDate: string | undefined
  /** Why the window is corrupt, as text. */
  readonly reason: string | undefined
  /** The candles next to it, if no window between is missing: batches of one row. */
  readonly before: KlineBatch | undefined
  readonly after: KlineBatch | undefined
  /** The gaps that it lies in or next to. */
  readonly gaps: readonly SharedGap[]
  readonly finer: readonly FinerSum[]
  readonly listing: Listing
}

/** The facts about a time whose window can be read, or is not needed. */
export interface ReadableFacts extends CandleFacts {
  readonly state: Exclude<TimeState, 'missing' | 'corrupt'>
}

export function isReadable(facts: CandleFacts): facts is ReadableFacts {
  return facts.state !== 'missing' && facts.state !== 'corrupt'
}

/** More symbols are not asked whether they lack the same candles. */
const MAX_COMPARED = 20

/** Finds the candle of a series that contains a time, and what the mirror knows about it. Throws `mirror_unusable`. */
export async function findCandle(
  mirror: Mirror,
  contents: MirrorSourceContents,
  series: Series,
  time: number,
): Promise<CandleFacts> {
  const cached = await CachedSeries.open(mirror, contents, series)
  const grid = buildSeriesGrid(series, series.interval === '3d' ? mirror.windows.firstOpenTime(series) : undefined)
  const listing = findListing(mirror, series.symbol)
  const start = grid.start(time)
  const home = cached.indexAt(start)
  const [firstStartDate] = cached.startDates
  const base = { series, time, listing, startTime: start, endTime: grid.end(start), firstStartDate, reason: undefined }
  const none = { candle: undefined, before: undefined, after: undefined, gaps: [], finer: [] }
  if (home < 0) return { ...base, ...none, window: undefined, state: 'before' }
  const window = cached.window(home)
  const read = cached.read(home)
  if (read.state === 'corrupt') return { ...base, ...none, window, state: 'corrupt', reason: read.error.message }
  const isEarly = listing.isFirst && base.endTime <= (listing.earliest ?? -Infinity)
  const isOpen = base.endTime > contents.now
  if (read.state === 'missing') {
    return { ...base, ...none, window, state: isOpen ? 'open' : isEarly ? 'before' : 'missing' }
  }
  const candle = findRow(cached, home, time)
  const { startTime, endTime } = candle ? spanOf(series, candle) : base
  const [before, after] = [cached.lastBefore(startTime), cached.firstFrom(candle ? startTime + 1 : endTime)]
  const found = { ...base, candle, startTime, endTime, before, after, window: cached.window(cached.indexAt(startTime)) }
  // A later candle of the window, or the time of its download, shows that the service had no candle there.
  const isSettled = () =>
    read.state === 'empty' ||
    (read.batch.lastOpenTime ?? -Infinity) > time ||
    mirror.windows.settledUntil(window, read) >= endTime
  const absent = (): TimeState => {
    if (isEarly || (after && !before)) return 'before'
    if (isOpen) return 'open'
    if (!isSettled()) return 'unsettled'
    return after ? 'gap' : 'after'
  }
  const state = candle ? 'candle' : absent()
  const times = [before, candle, after].flatMap(batch => batch?.firstOpenTime ?? [])
  const gaps = times.slice(1).flatMap((later, index) => findGaps(series.interval, grid, ALL, times[index], later))
  const shared: SharedGap[] = []
  for (const gap of gaps) shared.push({ ...gap, ...(await compareGap(mirror, contents, series, gap)) })
  const isKnown = state === 'candle' || state === 'gap'
  const isOnGrid = grid.offset(startTime) === 0
  const finer = isKnown && isOnGrid ? await sumFiner(mirror, contents, found) : []
  return { ...found, state, gaps: shared, finer }
}

const ALL = [{ startTime: -Infinity, endTime: Infinity }]

function spanOf({ interval }: Series, candle: KlineBatch) {
  const startTime = candle.openTime(0)
  return { startTime, endTime: nextOpenTime(interval, startTime) }
}

/** The candle that contains a time. One off the grid may open in a window beside the one at `home`. */
function findRow(cached: CachedSeries, home: number, time: number): KlineBatch | undefined {
  const last = cached.lastBefore(time + 1)
  if (last === undefined) return undefined
  const opensAt = last.openTime(0)
  const { interval } = cached.window(home)
  const isThere = time < nextOpenTime(interval, opensAt)
  return isThere && (cached.indexAt(opensAt) === home || mayBeOffGrid(opensAt)) ? last : undefined
}

/** The other symbols that lack candles for at least half of a gap, between two of their own: the exchange was down. */
async function compareGap(
  mirror: Mirror,
  contents: MirrorSourceContents,
  { symbol, interval }: Series,
  { startTime, endTime }: Gap,
): Promise<Pick<SharedGap, 'lacking' | 'compared'>> {
  const others = mirror.contents.symbolFolders(interval).filter(other => other !== symbol)
  const lacking: SymbolName[] = []
  let compared = 0
  for (const other of others.slice(0, MAX_COMPARED)) {
    const cached = await CachedSeries.open(mirror, contents, { symbol: other, interval })
    const next = cached.firstFrom(startTime)
    if (next === undefined || cached.lastBefore(startTime) === undefined) continue
    compared++
    const lacks = Math.min(next.openTime(0), endTime) - startTime
    if (2 * lacks >= endTime - startTime) lacking.push(other)
  }
  return { lacking, compared }
}
