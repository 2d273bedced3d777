import { type Interval, isInterval } from './intervals.js'
import type { WindowRef } from './series.js'
import { isSymbol } from './symbols.js'
import { isStartDate } from './windows.js'

/** The path of the list of symbols, relative to a base address or a mirror's root. */
export const SYMBOLS_PATH = 'api/klines/symbols.json'

/** The path of an interval's list of startDates. */
export function startDatesPath(interval: Interval): string {
  return `api/klines/start-dates/${interval}.json`
}

/** The path of a window: the same for the URL, the mirror file and the server's route. */
export function windowPath({ interval, symbol, startDate }: WindowRef): string {
  return `api/klines/${interval}/${symbol}/${startDate}.json`
}

/** The file that a path of the tree names. */
export type TreeEntry =
  | { readonly kind: 'symbols' }
  | { readonly kind: 'startDates'; readonly interval: Interval }
  | { readonly kind: 'window'; readonly window: WindowRef }

/** The inverse of the functions above; undefined for paths that the service cannot have. */
export function parseTreePath(path: string): TreeEntry | undefined {
  if (path === SYMBOLS_PATH) return { kind: 'symbols' }
  const [, interval, symbol, startDate] =
    /^api\/klines\/([^/]+)\/([^/]+?)(?:\/(\d{4}-\d{2}-\d{2}))?\.json$/.exec(path) ?? []
  if (interval === 'start-dates' && startDate === undefined && isInterval(symbol)) {
    return { kind: 'startDates', interval: symbol }
  }
  if (!isInterval(interval) || !isSymbol(symbol) || startDate === undefined) return undefined
  return isStartDate(interval, startDate) ? { kind: 'window', window: { interval, symbol, startDate } } : undefined
}
