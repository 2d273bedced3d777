import { DAY_MS, nextOpenTime } from '../candles/intervals.js'
import type { WindowRef } from '../candles/series.js'
import { windowSpan } from '../candles/windows.js'
import type { SeriesTotals } from '../rows/gaps.js'
import type { Rules } from '../sources/source.js'

/** Open times of the first and the last candle of a window, ms UTC; undefined without one. */
export interface WindowEnds {
  readonly first?: number | undefined
  readonly last?: number | undefined
}

/** What the valid file of a window is. Indexes of earlier versions do not count its candles. */
export interface WindowFile extends WindowEnds, Partial<Pick<SeriesTotals, 'candles' | 'gaps' | 'missing'>> {
  readonly size: number
  readonly sha256: string
}

/** What is known of a window: an entry of the index of its series. Times are ms UTC. */
export interface WindowFacts extends WindowFile {
  /** When the service made the file: its Last-Modified, else its Date; of the exchange the time of the answer. */
  readonly rendered?: number | undefined
  /** The Date of the last answer about it, 200 or 304. */
  readonly asked: number
  /** The least rendered time at which the window was seen with candles. */
  readonly since?: number | undefined
  /** When the file last changed, by the clock of its disk: while that stays, the file is as it was when it was stored or read. */
  readonly ctime?: number | undefined
}

/** Whether a window is there, and whether it can still change: a `final` one is never requested again. */
export type State = 'missing' | 'open' | 'final'

/** How long after its end a window may still change: corrections were measured up to 4.5 h after it. */
export const SETTLING_MS = DAY_MS

/** How long a service must have had later candles: a half done deployment, or a cache before it, mixes old and new files. */
const MIXED_MS = DAY_MS

/**
 * The only answer to "can this window still change?".
 *
 * `cached`: its valid file; undefined without one. `facts`: what the index knows, maybe of another file: a file without
 * its digest is another one. `laterSince`: the least `since` of later windows of the series, if one was ever seen with candles.
 */
export function windowState(
  window: WindowRef,
  cached: Partial<Pick<WindowFile, 'last' | 'sha256'>> | undefined,
  facts: WindowFacts | undefined,
  laterSince: number | undefined,
  { kind }: Rules,
): State {
  if (cached === undefined) return 'missing'
  // A run may have ended between the file and its entry, or one of them was put back: only the service knows which is right.
  if (facts && facts.sha256 !== cached.sha256) return 'open'
  const isWhole = reachesEnd(window, cached.last)
  // A copy without its index has only its candles.
  if (facts === undefined) return isWhole ? 'final' : 'open'
  const isLate = (time = -Infinity) => time >= windowSpan(window).endTime + SETTLING_MS
  // The newest candles of the exchange may still be corrected.
  if (kind === 'exchange') return isLate(facts.asked) ? 'final' : 'open'
  if (isWhole || kind === 'fixed') return 'final'
  // A tree that is deployed again has new times and no newer candles: only candles of a later window show that it went on.
  const wentOn = laterSince !== undefined && laterSince + MIXED_MS <= facts.asked
  return isLate(facts.rendered) && wentOn ? 'final' : 'open'
}

/** Whether the last candle of a window, which opens at `last` (ms UTC), is the last one that the window can have. */
export function reachesEnd(window: WindowRef, last: number | undefined): boolean {
  return last !== undefined && nextOpenTime(window.interval, last) >= windowSpan(window).endTime
}
