import { nameService, USDM } from '../candles/base-url.js'
import { isKlinesError, KlinesError } from '../candles/errors.js'
import { EXCHANGE_INTERVALS, type Interval, isMinutes, noMinutes } from '../candles/intervals.js'
import { findMissingStartDates } from '../candles/lists.js'
import { SYMBOLS_PATH, sourceListPath, startDatesPath } from '../candles/paths.js'
import { combine, namesSymbols, parseSelection } from '../candles/selection.js'
import { type SymbolName, sortSymbols } from '../candles/symbols.js'
import { parseRange, type RangeText } from '../candles/time-range.js'
import { joinNames } from '../mirror/errors.js'
import type { Mirror } from '../mirror/mirror.js'
import { knownDates, knownSymbols } from '../mirror/status.js'
import { openMirror } from '../mirror/user-mirrors.js'
import { request } from '../sources/errors.js'
import { QUICK_POLICY } from '../sources/retry.js'
import type { FundingRate, Source } from '../sources/source.js'
import { openRun, type Run, type SourceOptions, withRun } from './run.js'

/**
 * The startDates of an interval as the source lists them, which the mirror keeps. Throws `incomplete` for a list with a hole, one that does
 * not reach the present, and one that ends before what is cached. `present`: by the clock that is ahead, ms UTC.
 */
export async function fetchStartDates(
  { source, mirror, now, signal, warn, readOnly }: Run<Source>,
  interval: Interval,
): Promise<{ names: string[]; present: number }> {
  const { name, rules } = source
  const asked = source.startDates(interval, signal)
  const list = await request(source, `the list of ${interval} start dates`, asked).catch(error => {
    if (!isMinutes(interval) || error.data?.status !== 404) throw error
    throw noMinutes(interval, nameService(source.name))
  })
  const { names } = list
  if (rules.kind === 'exchange') return { names, present: list.served }
  const cached = mirror.symbols([interval]).flatMap(symbol => mirror.dates({ symbol, interval }))
  const first = names[0] ?? ''
  if (cached.some(date => date < first))
    warn(`The list of ${interval} start dates of ${name} begins with ${first}; the older cached windows stay.`)
  const known = [...(mirror.startDates(interval) ?? []), ...cached].filter(date => date >= first)
  // A list need not reach a present that only a wrong clock knows, and that of the sample ends.
  const until = rules.kind === 'fixed' ? 0 : Math.min(now(), list.asked)
  const missing = findMissingStartDates(names, interval, { known, now: until })
  if (missing.length > 0) {
    const message = `The list of ${interval} start dates of ${name} is incomplete: it lacks ${joinNames(missing)}.`
    const suggestions = ['Nothing was downloaded. Try again later.']
    throw new KlinesError('incomplete', message, { data: { baseUrl: name, missing }, suggestions })
  }
  if (!readOnly) mirror.storeList(sourceListPath(startDatesPath(interval)), list.bytes, list.asked, name)
  return { names, present: Math.max(now(), list.served) }
}

/** The symbols of the source, sorted; of futures with the cached contracts, which no list has once they ended. `gone`: see `Plan`. */
export async function fetchSymbols(run: Run<Source>): Promise<{ names: SymbolName[]; gone: SymbolName[] }> {
  const { source, mirror, signal } = run
  const list = await request(source, 'the list of symbols', source.symbols(signal))
  const ended = source.rules.market?.hasContracts ? mirror.symbols() : []
  const names = sortSymbols([...list.names, ...ended])
  if (source.rules.kind === 'exchange') return { names, gone: [] }
  if (names.length === 0) {
    const data = { baseUrl: source.name }
    throw new KlinesError('bad_list', 'The list of symbols is refused: it is empty.', { data })
  }
  const gone = mirror.symbols().filter(symbol => !names.includes(symbol))
  if (gone.length === 0 && !run.readOnly)
    mirror.storeList(sourceListPath(SYMBOLS_PATH), list.bytes, list.asked, source.name)
  return { names, gone }
}

/** The symbols of the service, and the startDates of each interval, ascending. */
export interface Catalogue {
  /** Where the lists come from: `mirror` (with the built-in ones) when the service could not be reached. */
  readonly source: 'service' | 'mirror'
  readonly mirror: Mirror
  readonly symbols: readonly SymbolName[]
  readonly startDates: ReadonlyMap<Interval, readonly string[]>
}

/**
 * The symbols of a service, or with `baseUrl: 'binance'` of the exchange. When it cannot be reached, those that the mirror and this
 * version know, with a warning. Throws `unreachable` where nothing is known, and `rate_limited`.
 *
 * @example
 * const symbols = await listSymbols() // ['BTCUSDT', 'ETHUSDT', ...]
 */
export async function listSymbols(options: SourceOptions = {}): Promise<SymbolName[]> {
  return [...(await readCatalogue(options, [])).symbols]
}

/** The lists of the service, or else of what a named mirror was made from. Default: of all intervals that the mirror may have. */
export async function readCatalogue(options: SourceOptions, named?: readonly Interval[]): Promise<Catalogue> {
  const baseUrl = options.baseUrl ?? openMirror(options).source
  return withRun(openRun({ ...options, baseUrl }, { policy: QUICK_POLICY, readOnly: true }), async run => {
    const { mirror, source, now, warn } = run
    const isExchange = source.rules.kind === 'exchange'
    const isThere = (interval: Interval) => isExchange || !isMinutes(interval) || mirror.symbols([interval]).length > 0
    const intervals = named ?? EXCHANGE_INTERVALS.filter(isThere)
    try {
      const dates = async (interval: Interval) => [interval, (await fetchStartDates(run, interval)).names] as const
      const [{ names }, lists] = await Promise.all([fetchSymbols(run), Promise.all(intervals.map(dates))])
      return { source: 'service', mirror, symbols: names, startDates: new Map(lists) }
    } catch (error) {
      // A refusal or another kind of host is no fault of the network; and without its names nothing is known of the exchange.
      const isFault = isKlinesError(error, 'unreachable') && error.cause !== undefined && error.data.status !== 404
      const symbols = isExchange ? mirror.symbols() : knownSymbols(mirror)
      if (!isFault || symbols.length === 0) throw error
      warn(`${error.message} Showing what the mirror and this version know.`)
      const lists = intervals.map(interval => [interval, knownDates(mirror, interval, now())] as const)
      return { source: 'mirror', mirror, symbols, startDates: new Map(lists) }
    }
  })
}

/** Contracts, and a range. `baseUrl`: `binance-usdm` (default) or `binance-usdm:URL`. */
export type FundingRequest = RangeText & SourceOptions & { readonly symbols: readonly string[] | 'all' }

/**
 * The settlements of USD-M contracts, by symbol and time, as the exchange has them now; nothing is stored. Throws `unknown_symbol`,
 * `no_candles` for a range without any, and what `listSymbols` throws.
 *
 * @example
 * const rates = await listFunding({ symbols: ['BTCUSDT'], last: '1y' })
 */
export async function listFunding(options: FundingRequest): Promise<FundingRate[]> {
  const { baseUrl = USDM } = options
  const selection = parseSelection({ ...options, intervals: 'all' })
  return withRun(openRun({ ...options, baseUrl }, { readOnly: true }), async run => {
    const { name, funding } = run.source
    if (!funding) throw new KlinesError('bad_base_url', `${name} has no funding. Expected ${USDM} or ${USDM}:URL.`)
    const { fromTime, toTime } = parseRange(options, run.now())
    const listed = namesSymbols(selection) ? [] : (await fetchSymbols(run)).names
    const names = combine(selection, listed, ['1d']).map(({ symbol }) => symbol)
    const list = (symbol: SymbolName) =>
      request(run.source, `the funding rates of ${symbol}`, funding(symbol, fromTime, toTime, run.signal))
    const all = await Promise.all(names.map(list))
    const empty = names.filter((_, index) => all[index].length === 0)
    const message = `No funding rate of ${joinNames(empty)} in the range.`
    if (empty.length === names.length) throw new KlinesError('no_candles', message)
    if (empty.length > 0) run.warn(message)
    return all.flat()
  })
}
