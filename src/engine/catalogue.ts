import { KlinesError } from '../candles/errors.js'
import { EXCHANGE_INTERVALS, INTERVALS, type Interval } from '../candles/intervals.js'
import type { SymbolName } from '../candles/symbols.js'
import type { Mirror } from '../mirror/mirror.js'
import { QUICK_POLICY } from '../sources/retry.js'
import { fetchStartDates, fetchSymbols, knownDates, knownSymbols } from './lists.js'
import { openMirror, openRun, type SourceOptions, withRun } from './run.js'

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
  const { symbols } = await readCatalogue(options, [])
  return [...symbols]
}

/** The lists of the named service; with `mirror` alone, of the one that the mirror was made from. */
export function readMirrorCatalogue(options: SourceOptions, named?: readonly Interval[]): Promise<Catalogue> {
  const { mirror } = options
  const baseUrl = options.baseUrl ?? (mirror === undefined ? undefined : openMirror({ mirror }).source)
  return readCatalogue({ ...options, baseUrl }, named)
}

/** The lists of the service, of some intervals; default: of all that the mirror may have, which are the twelve of a static service. */
function readCatalogue(options: SourceOptions, named?: readonly Interval[]): Promise<Catalogue> {
  return withRun(openRun(options, { policy: QUICK_POLICY, readOnly: true }), async run => {
    const { mirror, source, now, warn } = run
    const isExchange = source.rules.kind === 'exchange'
    const isThere = (interval: Interval) => mirror.symbols([interval]).length > 0
    const intervals =
      named ??
      EXCHANGE_INTERVALS.filter(one => isExchange || (INTERVALS as readonly Interval[]).includes(one) || isThere(one))
    try {
      const [{ names }, lists] = await Promise.all([
        fetchSymbols(run),
        Promise.all(intervals.map(async interval => [interval, (await fetchStartDates(run, interval)).names] as const)),
      ])
      return { source: 'service', mirror, symbols: names, startDates: new Map(lists) }
    } catch (error) {
      // A refusal is no fault of the network; and without its names nothing is known of the exchange.
      const isFault = error instanceof KlinesError && error.code === 'unreachable' && error.cause !== undefined
      const symbols = isExchange ? mirror.symbols() : knownSymbols(mirror)
      if (!isFault || symbols.length === 0) throw error
      warn(`${error.message} Showing what the mirror and this version know.`)
      const lists = intervals.map(interval => [interval, knownDates(mirror, interval, now())] as const)
      return { source: 'mirror', mirror, symbols, startDates: new Map(lists) }
    }
  })
}
