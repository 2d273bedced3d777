import { type EventOptions, toWarn } from '../download/events.js'
import { parseSelection, type SelectionRequest } from '../download/selection.js'
import { MirrorSource } from '../download/sources/mirror-source.js'
import { openMirror, warnOnce } from '../download/sources/open-source.js'
import type { SourceOptions } from '../download/sources/source-options.js'
import { systemClock } from '../http/system-clock.js'
import { parseRequestedRange, type RangeText } from '../klines/time-range.js'
import type { ThreadOptions } from '../threads/thread-count.js'
import { type VerificationReport, verifySeries } from './verify.js'

/** Which candles of a mirror to verify. Without a range, each series from its first to its last cached window. */
export interface VerifyRequest
  extends SelectionRequest,
    RangeText,
    EventOptions,
    ThreadOptions,
    Pick<SourceOptions, 'baseUrl' | 'mirror' | 'signal'> {
  /**
   * The present, ms UTC. Default: the machine's clock.
   * @internal
   */
  readonly now?: number | undefined
}

/**
 * Checks every cached candle of some series, without any request: order, times, prices, gaps, missing windows, and whether each candle
 * is the exact sum of its finer ones. What is wrong is in the report, times in ms UTC. Throws `window_missing` for a series that is not
 * in the mirror, `mirror_mismatch`, and what is wrong with the request.
 *
 * @example
 * const { series, differences } = await verifyKlines({ symbols: ['BTCUSDT'], intervals: 'all' })
 */
export async function verifyKlines(request: VerifyRequest): Promise<VerificationReport> {
  const { baseUrl, threads, signal, onEvent, from, to, last, now = systemClock.now() } = request
  const selection = parseSelection(request)
  const isNamed = [from, to, last].some(text => text !== undefined)
  const range = isNamed ? parseRequestedRange(request, now) : undefined
  const warn = warnOnce(toWarn(request))
  const mirror = openMirror(request)
  const series = await new MirrorSource(mirror, { baseUrl, now, warn }).cachedSeries(selection)
  const progress = (done: number, total: number) => onEvent?.({ type: 'progress', done, total })
  return verifySeries(mirror, series, { threads, range, now, warn, signal, progress })
}
