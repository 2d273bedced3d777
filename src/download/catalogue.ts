import { QUICK_POLICY } from '../http/retry.js'
import { systemClock } from '../http/system-clock.js'
import { isKlinesError } from '../klines/errors.js'
import type { Interval } from '../klines/intervals.js'
import type { SymbolName } from '../klines/symbols.js'
import type { Mirror } from '../mirror/mirror.js'
import { cachedStartDateList } from './cached-start-dates.js'
import { toWarn } from './events.js'
import { openMirror, openSource } from './sources/open-source.js'
import type { SourceOptions } from './sources/source-options.js'

/** The symbols of the service, and the start dates of each interval, ascending. */
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

/**
 * Downloads the lists of the service. When it cannot be reached, reads those of the mirror, with a warning. Default: the lists
 * of all intervals that the mirror may have, which are the twelve for a static service.
 */
export async function readCatalogue(options: SourceOptions, named?: readonly Interval[]): Promise<Catalogue> {
  const mirror = openMirror(options)
  const intervals = named ?? mirror.contents.intervals()
  const now = options.now ?? systemClock.now()
  const warn = toWarn(options)
  const source = await openSource(options, { readOnly: true, policy: QUICK_POLICY })
  try {
    const [symbols, lists] = await Promise.all([
      source.contents.symbols(),
      Promise.all(intervals.map(async interval => [interval, await source.contents.startDates(interval)] as const)),
    ])
    return { source: 'service', mirror, symbols, startDates: new Map(lists) }
  } catch (error) {
    if (!isKlinesError(error, 'unreachable')) throw error
    // A refusal is no fault of the network; and without its names nothing is known of the exchange.
    const isRefused = error.cause === undefined
    if (isRefused || (mirror.rules.listsMirrored && mirror.contents.symbols().length === 0)) throw error
    warn(`${error.message} Showing what the mirror and this version know.`)
    const lists = intervals.map(interval => [interval, cachedStartDateList(mirror, interval, { now, warn })] as const)
    return {
      source: 'mirror',
      mirror,
      symbols: mirror.rules.listsMirrored ? mirror.contents.symbols() : mirror.rules.symbols,
      startDates: new Map(lists),
    }
  } finally {
    await source.close()
  }
}
