import { isKlinesError, type KlinesError } from '../klines/errors.js'
import { type Interval, isMinutes } from '../klines/intervals.js'
import { consecutiveStartDates } from '../klines/windows.js'
import type { Mirror } from '../mirror/mirror.js'
import type { Warn } from './sources/window-source.js'

/**
 * The start dates of an interval from the mirror's list, else from the list built into this version. A list of 1m, 3m or 5m ends
 * with the day of the download: the windows since then, up to `now` (ms UTC), are added.
 */
export function cachedStartDateList(
  mirror: Mirror,
  interval: Interval,
  { now, warn }: { readonly now: number; readonly warn: Warn },
): string[] {
  const warnOfCorrupt = ({ message }: Error) => warn(`${message} The built-in list is used instead.`)
  const list = storedStartDates(mirror, interval, warnOfCorrupt) ?? mirror.rules.startDates(interval, now)
  const last = list.at(-1)
  if (last === undefined || !isMinutes(interval)) return list
  return [...list, ...consecutiveStartDates(interval, last, now).slice(1)]
}

/** The start dates of the mirror's list; undefined without one, and for a corrupt one, whose error `onCorrupt` gets. */
export function storedStartDates(
  mirror: Mirror,
  interval: Interval,
  onCorrupt?: (error: KlinesError) => void,
): string[] | undefined {
  try {
    return mirror.contents.listedStartDates(interval)
  } catch (error) {
    if (!isKlinesError(error, 'bad_list')) throw error
    onCorrupt?.(error)
    return undefined
  }
}
