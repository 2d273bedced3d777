import { DAY_MS, nextOpenTime } from '../candles/intervals.js'
import type { WindowRef } from '../candles/series.js'
import { windowSpan } from '../candles/windows.js'
import type { Rules } from '../sources/source.js'

/** What is known of the file of a window: an entry of the index of its series. Times are ms UTC. */
export interface WindowFacts {
  readonly size: number
  readonly sha256: string
  /** When the service made it: its Last-Modified, else its Date; of the exchange the time of the answer. */
  readonly rendered?: number | undefined
  /** The Date of the last answer about it, 200 or 304. */
  readonly asked: number
  /** Open times of its first and last candle; undefined without one. */
  readonly first?: number | undefined
  readonly last?: number | undefined
}

export type WindowEnds = Pick<WindowFacts, 'first' | 'last'>

/** Whether a window is there, and whether it can still change: a `final` one is never requested again. */
export type State = 'missing' | 'open' | 'final'

/** How long after its end a window may still change: corrections were measured up to 4.5 h after it. */
export const SETTLING_MS = DAY_MS

/**
 * The only answer to "can this window still change?".
 *
 * `cached`: the candles of its valid file; undefined without one. `facts`: undefined when the file is not as the index says.
 * `laterSince`: the least rendered time of later windows of the series with candles; undefined when there is none.
 */
export function windowState(
  window: WindowRef,
  cached: WindowEnds | undefined,
  facts: WindowFacts | undefined,
  laterSince: number | undefined,
  { kind }: Rules,
): State {
  if (cached === undefined) return 'missing'
  const isLate = (time = -Infinity) => time >= windowSpan(window).endTime + SETTLING_MS
  // The newest candles of the exchange may still be corrected; a copy without facts has only its candles.
  if (kind === 'exchange') return (facts ? isLate(facts.asked) : reachesEnd(window, cached.last)) ? 'final' : 'open'
  if (reachesEnd(window, cached.last)) return 'final'
  if (facts === undefined) return 'open'
  if (kind === 'fixed') return 'final'
  // A tree that is deployed again has new times and no newer candles: only candles of a later window show that it went on.
  const wentOn = laterSince !== undefined && laterSince <= facts.asked
  return isLate(facts.rendered) && wentOn ? 'final' : 'open'
}

/** Whether the last candle of a window, which opens at `last` (ms UTC), is the last one that the window can have. */
export function reachesEnd(window: WindowRef, last: number | undefined): boolean {
  return last !== undefined && nextOpenTime(window.interval, last) >= windowSpan(window).endTime
}
