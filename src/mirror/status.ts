import { setImmediate as nextTurn } from 'node:timers/promises'
import { COLUMNS } from '../candles/columns.js'
import { DAY_MS, type Interval, isMinutes, nextOpenTime } from '../candles/intervals.js'
import { windowPath } from '../candles/paths.js'
import { type Series, windowOf } from '../candles/series.js'
import { SYMBOLS, type SymbolName } from '../candles/symbols.js'
import { consecutiveStartDates, exchangeStartDates, knownStartDates } from '../candles/windows.js'
import { listingTime } from '../rows/candle-grid.js'
import type { Mirror } from './mirror.js'
import type { WindowEnds } from './window-state.js'

const COUNT = COLUMNS.indexOf('count')

/** The windows of a series that a mirror has. */
export interface SeriesStatus extends Series {
  readonly windows: number
  /** Windows without candles. */
  readonly empty: number
  readonly cachedBytes: number
  /** Open times of its first and last candle, ms UTC; undefined without one. */
  readonly firstOpenTime: number | undefined
  readonly lastOpenTime: number | undefined
}

/** The status of each series of a mirror. Two windows of each are read at most. */
export async function seriesStatuses(
  mirror: Mirror,
  signal?: AbortSignal,
  statusOf = (series: Series) => seriesStatus(mirror, series),
): Promise<SeriesStatus[]> {
  const statuses: SeriesStatus[] = []
  for (const series of mirror.series()) {
    await nextTurn()
    signal?.throwIfAborted()
    statuses.push(statusOf(series))
  }
  return statuses
}

export function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}

export function seriesStatus(mirror: Mirror, series: Series): SeriesStatus {
  const paths = mirror.dates(series).map(startDate => windowPath(windowOf(series, startDate)))
  const sizes = paths.flatMap(path => mirror.version(path)?.size ?? [])
  return {
    ...series,
    windows: sizes.length,
    // An empty window is `[]`; a larger file has rows or is corrupt.
    empty: sizes.filter(size => size <= 2).length,
    cachedBytes: sumOf(sizes),
    firstOpenTime: firstCandle(mirror, series),
    lastOpenTime: newestCandle(mirror, series),
  }
}

export function firstCandle(mirror: Mirror, series: Series): number | undefined {
  return findEnd(mirror, series, mirror.dates(series), 'first')
}

/** What 3d candles of a symbol are counted from, ms UTC: its first one, else the listing of the spot market; undefined where neither is known. */
export function listingAnchor(mirror: Mirror, symbol: SymbolName): number | undefined {
  const first = firstCandle(mirror, { symbol, interval: '3d' })
  return first ?? (mirror.rules.market?.hasContracts ? undefined : listingTime(symbol))
}

/** When the first of the last candles opens, ms UTC, if they have had no trade for a day: a contract goes on so after its end. */
export function idleSince(mirror: Mirror, series: Series): number | undefined {
  if (!mirror.rules.market?.hasContracts) return undefined
  let since = Infinity
  for (const startDate of mirror.dates(series).reverse()) {
    const read = mirror.read(windowOf(series, startDate))
    if (read.state !== 'cached') break
    const { batch } = read
    let row = batch.length
    while (row > 0 && batch.text(row - 1, COUNT) === '0') row--
    if (row < batch.length) since = batch.openTime(row)
    if (row > 0) break
  }
  const end = nextOpenTime(series.interval, newestCandle(mirror, series) ?? 0)
  return end - since >= DAY_MS ? since : undefined
}

export function newestCandle(mirror: Mirror, series: Series): number | undefined {
  return findEnd(mirror, series, mirror.dates(series).reverse(), 'last')
}

/** An end of the first window in an order that has candles. */
function findEnd(mirror: Mirror, series: Series, dates: string[], end: keyof WindowEnds) {
  for (const startDate of dates) {
    const time = mirror.ends(windowOf(series, startDate))[end]
    if (time !== undefined) return time
  }
  return undefined
}

/** The startDates of an interval as far as a mirror and this version know them. */
export function knownDates(mirror: Mirror, interval: Interval, now: number): string[] {
  const { market } = mirror.rules
  if (market) return exchangeStartDates(interval, market.opened, now)
  const list = mirror.startDates(interval) ?? knownStartDates(interval)
  const last = list.at(-1)
  if (last === undefined || !isMinutes(interval)) return list
  // A list of minutes ends with the day of its download.
  return [...list, ...consecutiveStartDates(interval, last, now).slice(1)]
}

/** The symbols that a source is known to have: those of its list, in its order, and others that are cached. */
export function knownSymbols(mirror: Mirror, cached: readonly SymbolName[] = mirror.symbols()): SymbolName[] {
  const listed = mirror.rules.kind === 'exchange' ? [] : (mirror.listedSymbols() ?? SYMBOLS)
  return [...new Set([...listed, ...cached])]
}

/** The symbols with a window, in the order of the source. */
export function mirrorSymbols(mirror: Mirror): SymbolName[] {
  const cached = mirror.symbols()
  return knownSymbols(mirror, cached).filter(symbol => cached.includes(symbol))
}
