import { KlinesError } from '../candles/errors.js'
import { type Interval, isMinutes } from '../candles/intervals.js'
import { findMissingStartDates } from '../candles/lists.js'
import { SYMBOLS_PATH, startDatesPath } from '../candles/paths.js'
import { SYMBOLS, type SymbolName } from '../candles/symbols.js'
import { consecutiveStartDates, exchangeStartDates, knownStartDates } from '../candles/windows.js'
import type { Mirror } from '../mirror/mirror.js'
import { unreachable } from '../sources/errors.js'
import { FetchError } from '../sources/fetch-error.js'
import type { Source } from '../sources/source.js'
import { incompleteList, nameService, noMinutes } from './errors.js'
import type { Run } from './run.js'

/** The startDates of an interval, and the present by the clock that is ahead, ms UTC: no window that has begun is left out. */
export interface ListedDates {
  readonly names: string[]
  readonly present: number
}

/**
 * The startDates of the windows of an interval, as the source lists them, which the mirror keeps. Throws `incomplete` for a list with a hole, one that does not
 * reach the present, and one that ends before what is cached; `unknown_interval` when the source has no list of 1m, 3m or 5m;
 * `bad_list` and `unreachable`.
 */
export async function fetchStartDates(
  { source, mirror, now, signal, warn, readOnly }: Run<Source>,
  interval: Interval,
): Promise<ListedDates> {
  const list = await request(source, `the list of ${interval} start dates`, source.startDates(interval, signal)).catch(
    error => {
      const isUnknown = isMinutes(interval) && error.cause instanceof FetchError && error.cause.status === 404
      throw isUnknown ? noMinutes(interval, nameService(source), error.cause) : error
    },
  )
  const present = Math.max(now(), list.served)
  if (source.rules.kind === 'exchange') return { names: list.names, present: list.served }
  const cached = mirror.symbols([interval]).flatMap(symbol => mirror.dates({ symbol, interval }))
  const first = list.names[0] ?? ''
  const older = cached.filter(date => date < first)
  if (older.length > 0)
    warn(`The list of ${interval} start dates of ${source.name} begins with ${first}; the older cached windows stay.`)
  const known = [...(mirror.startDates(interval) ?? []), ...cached].filter(date => date >= first)
  // A list need not reach a present that only a wrong clock knows, and that of the sample ends.
  const until = source.rules.kind === 'fixed' ? 0 : Math.min(now(), list.asked)
  const missing = findMissingStartDates(list.names, interval, { known, now: until })
  if (missing.length > 0) throw incompleteList(`The list of ${interval} start dates`, missing, source.name)
  if (!readOnly) mirror.storeList(startDatesPath(interval), list.bytes, list.asked, source.name)
  return { names: list.names, present }
}

/** The startDates of an interval as far as a mirror and this version know them, up to `now` (ms UTC) for 1m, 3m and 5m. */
export function knownDates(mirror: Mirror, interval: Interval, now: number): string[] {
  if (mirror.rules.kind === 'exchange') return exchangeStartDates(interval, now)
  const list = mirror.startDates(interval) ?? knownStartDates(interval)
  const last = list.at(-1)
  // A list of minutes ends with the day of its download.
  return last === undefined || !isMinutes(interval)
    ? list
    : [...list, ...consecutiveStartDates(interval, last, now).slice(1)]
}

/**
 * The symbols of the source. Of a static service also those that are cached and that it does not list any more (`gone`). Throws
 * `bad_list` and `unreachable`.
 */
export async function fetchSymbols(
  run: Run<Source>,
): Promise<{ readonly names: SymbolName[]; readonly gone: SymbolName[] }> {
  const { source, mirror, signal } = run
  const list = await request(source, 'the list of symbols', source.symbols(signal))
  if (source.rules.kind === 'exchange') return { names: list.names, gone: [] }
  if (list.names.length === 0)
    throw new KlinesError('bad_list', 'The list of symbols is refused: it is empty.', {
      data: { baseUrl: source.name },
    })
  const gone = mirror.symbols().filter(symbol => !list.names.includes(symbol))
  if (gone.length === 0 && !run.readOnly) mirror.storeList(SYMBOLS_PATH, list.bytes, list.asked, source.name)
  return { names: list.names, gone }
}

/** The symbols that a source is known to have, as far as a mirror says. */
export function knownSymbols(mirror: Mirror): SymbolName[] {
  const listed = mirror.rules.kind === 'exchange' ? [] : (mirror.listedSymbols() ?? SYMBOLS)
  return [...new Set([...listed, ...mirror.symbols()])]
}

/** A source without its lists counts as unreachable; a list with wrong contents is `bad_list`. */
export async function request<T>(source: Source, what: string, sent: Promise<T>): Promise<T> {
  try {
    return await sent
  } catch (error) {
    if (!(error instanceof FetchError)) throw error
    const isRefused = error.cause instanceof KlinesError && !error.notJson
    if (isRefused) throw new KlinesError('bad_list', error.message, { cause: error, data: { baseUrl: source.name } })
    throw unreachable(source.name, error, what)
  }
}
