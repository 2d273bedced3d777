import type { Interval } from '../klines/intervals.js'
import type { WindowRef } from '../klines/series.js'
import type { SymbolName } from '../klines/symbols.js'
import type { RenderedFile, WindowEnds, WindowTimes } from './window-ends.js'

/** What is true of all trees of a kind: those of a static service, of the exchange, and bare folders of windows. */
export interface TreeRules {
  /** The layout of its mirrors, as `mirror.json` has it: a version refuses a number that it does not know. */
  readonly layout: number
  /** The symbols that it has for certain. */
  readonly symbols: readonly SymbolName[]
  /** The intervals that it has for certain. */
  readonly intervals: readonly Interval[]
  /** Whether the lists of a mirror name what the mirror has, because those of the service name far more. */
  readonly listsMirrored: boolean
  /** Whether the times of files say when the service made them. Those of a copy say when it was copied. */
  readonly trustsFileTimes: boolean
  /**
   * Whether the service makes each answer anew, by its own clock: a window is then current when it was sent, and a final one lacks no
   * candle. Otherwise the service renders windows when it likes, and says nothing about candles that are not there.
   */
  readonly rendersAnswers: boolean
  /** Whether the newest `candles` of a series may not be there yet, the first of which closed `ms` milliseconds ago. */
  mayLag(candles: number, ms: number): boolean
  /** Whether a refusal ends by itself, so that whatever sent the request goes on. */
  readonly refusesForATime: boolean
  /** Whether the first 3d candle of a symbol is known without a request. */
  knowsFirstCandle(symbol: SymbolName): boolean
  /** The startDates of an interval that this version knows at `now` (ms UTC), ascending. */
  startDates(interval: Interval, now: number): string[]
  /** Whether a window may have candles, as far as this version knows. */
  mayHave(window: WindowRef): boolean
  /** Whether the candles of a window say that it has all of them, whatever the service says. */
  isFilled(window: WindowRef, ends: WindowEnds): boolean
  /**
   * Whether a window with these candles can change no more, so that it is never requested again. `times`: what the service said about
   * it, if that is known. `hasLater`: whether a later window of its series has candles; called only when needed.
   */
  isFinal(window: WindowRef, ends: WindowEnds, times: WindowTimes | undefined, hasLater: () => boolean): boolean
  /** Until when a version of a window with these times has all candles that closed, ms UTC. */
  settledTime(times: WindowTimes): number
  /** Whether a window may have got candles by `now` (ms UTC) since it was rendered. */
  isOutdated(window: WindowRef, rendered: RenderedFile, now: number): boolean
}
