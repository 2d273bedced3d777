import { type Interval, isInterval } from './intervals.js'
import type { Series, WindowRef } from './series.js'
import { isSymbol } from './symbols.js'
import { isStartDate } from './windows.js'

/**
 * What stands for an interval in paths: `1min` for `1m`, because `1m` and `1M` are the same name on the disks of macOS
 * and Windows; any other interval, also a resampled one, as people write it.
 */
export function intervalSegment(interval: string): string {
  return interval === '1m' ? '1min' : interval
}

/** The inverse: the interval of a segment, as people write it; undefined for a segment that no interval has. */
export function parseIntervalSegment(segment: string): string | undefined {
  if (segment === '1m') return undefined
  return segment === '1min' ? '1m' : segment
}

/** The path of the list of symbols, relative to a base address or a mirror's root. */
export const SYMBOLS_PATH = 'api/klines/symbols.json'

/** The path of an interval's list of startDates. */
export function startDatesPath(interval: Interval): string {
  return `api/klines/start-dates/${intervalSegment(interval)}.json`
}

/** The folder of an interval's series. */
export function intervalPath(interval: Interval): string {
  return `api/klines/${intervalSegment(interval)}`
}

/** The folder of a series' windows. */
export function seriesPath({ interval, symbol }: Series): string {
  return `${intervalPath(interval)}/${symbol}`
}

/** The path of a window: the same for the URL, the mirror file and the server's route. */
export function windowPath(window: WindowRef): string {
  return `${seriesPath(window)}/${window.startDate}.json`
}

/** The file that a path of the tree names. */
export type TreeEntry =
  | { readonly kind: 'symbols' }
  | { readonly kind: 'startDates'; readonly interval: Interval }
  | { readonly kind: 'window'; readonly window: WindowRef }

/** The inverse of the functions above; undefined for paths that the service cannot have. */
export function parseTreePath(path: string): TreeEntry | undefined {
  if (path === SYMBOLS_PATH) return { kind: 'symbols' }
  const [, folder = '', symbol = '', startDate] =
    /^api\/klines\/([^/]+)\/([^/]+?)(?:\/(\d{4}-\d{2}-\d{2}))?\.json$/.exec(path) ?? []
  if (folder === 'start-dates') {
    const listed = parseIntervalSegment(symbol)
    return startDate === undefined && isInterval(listed) ? { kind: 'startDates', interval: listed } : undefined
  }
  const interval = parseIntervalSegment(folder)
  if (!isInterval(interval) || !isSymbol(symbol) || startDate === undefined) return undefined
  return isStartDate(interval, startDate) ? { kind: 'window', window: { interval, symbol, startDate } } : undefined
}
