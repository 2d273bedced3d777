import { type Interval, isInterval } from './intervals.js'
import type { Series, WindowRef } from './series.js'
import { isSymbol } from './symbols.js'
import { isStartDate } from './windows.js'

/** An interval in paths: `1m` is `1min`, because some disks take `1m` and `1M` for the same name. */
export function intervalSegment(interval: string): string {
  return interval === '1m' ? '1min' : interval
}

/** The inverse; undefined for a segment that no interval has. */
export function parseIntervalSegment(segment: string): string | undefined {
  if (segment === '1m') return undefined
  return segment === '1min' ? '1m' : segment
}

/** Paths are relative to a base address or a mirror's root. */
export const SYMBOLS_PATH = 'api/klines/symbols.json'

export function startDatesPath(interval: Interval): string {
  return `api/klines/start-dates/${intervalSegment(interval)}.json`
}

/** Where a mirror keeps a list as its source has it: the tree has the symbols of the mirror, and `publish` alone writes its lists. */
export function sourceListPath(treePath: string): string {
  return treePath.replace('api/klines', '.klines')
}

export function intervalPath(interval: Interval): string {
  return `api/klines/${intervalSegment(interval)}`
}

export function seriesPath({ interval, symbol }: Series): string {
  return `${intervalPath(interval)}/${symbol}`
}

export function windowPath(window: WindowRef): string {
  return `${seriesPath(window)}/${window.startDate}.json`
}

export type TreeEntry =
  | { readonly kind: 'symbols' }
  | { readonly kind: 'startDates'; readonly interval: Interval }
  | { readonly kind: 'window'; readonly window: WindowRef }

/** The inverse of these functions; undefined for paths that the service cannot have. */
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
