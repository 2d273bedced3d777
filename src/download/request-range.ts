import { systemClock } from '../http/system-clock.js'
import { isKlinesError } from '../klines/errors.js'
import {
  isRelativeRange,
  parseRange,
  parseRequestedRange,
  type RangeText,
  type RequestedRange,
} from '../klines/time-range.js'
import type { WindowSource } from './sources/window-source.js'

/** A range as text, and this machine's present, ms UTC. Default: its clock. */
export interface RangeRequest extends RangeText {
  readonly now?: number | undefined
}

/**
 * Checks the range of a request before anything is requested. Throws `bad_time` and `bad_range`; whether a range that depends on
 * the present is empty shows when the source's present is known.
 */
export function checkRange(request: RangeRequest): void {
  try {
    parseRange(request, request.now ?? systemClock.now())
  } catch (error) {
    if (!isKlinesError(error, 'bad_range') || !isRelativeRange(request)) throw error
  }
}

/** The range of a request; the present is the source's, where the range depends on it. Throws like `checkRange`. */
export async function requestRange(request: RangeRequest, source: WindowSource): Promise<RequestedRange> {
  const now = isRelativeRange(request) ? await source.contents.currentTime() : (request.now ?? systemClock.now())
  return parseRequestedRange(request, now)
}
