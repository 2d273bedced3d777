import type { CandleWindow } from './candle-window.js'
import { firstOpenTime, type Interval, nextOpenTime, stepsBetween } from './interval.js'

/** Adjacent windows that are all loaded, or all missing. Times in ms UTC. */
interface Span {
  readonly startTime: number
  endTime: number
  readonly isMissing: boolean
}

/** Time between two candles that has none. */
export interface Gap {
  /** When its first candle would open, ms UTC. */
  readonly startTime: number
  /** How many whole candles fit. */
  readonly steps: number
  /** Whether its window is not in the mirror, so that nothing is known about it. */
  readonly isMissing: boolean
}

/** Finds the gaps between candles by the rules of `klines verify`. */
export class GapFinder {
  private readonly spans: Span[] = []

  /** `anchor`: the open time of any candle, ms UTC. */
  constructor(
    private readonly interval: Interval,
    private readonly anchor: number,
    windows: readonly CandleWindow[],
  ) {
    for (const { startTime, endTime, text } of windows) {
      const previous = this.spans.at(-1)
      const isMissing = text === undefined
      if (previous?.isMissing === isMissing) previous.endTime = endTime
      else this.spans.push({ startTime, endTime, isMissing })
    }
  }

  /** The gaps between a candle and the next one, by their open times, ms UTC. */
  between(openTime: number, laterOpenTime: number): Gap[] {
    const { interval } = this
    const next = nextOpenTime(interval, openTime)
    if (laterOpenTime <= next) return []
    return this.spans.flatMap(({ startTime, endTime, isMissing }) => {
      const start = startTime <= next ? next : this.firstOpenTime(startTime)
      const end = endTime >= laterOpenTime ? laterOpenTime : this.firstOpenTime(endTime)
      const steps = end > start ? stepsBetween(interval, start, end) : 0
      return steps > 0 ? [{ startTime: start, steps, isMissing }] : []
    })
  }

  private firstOpenTime(time: number): number {
    return firstOpenTime(this.interval, this.anchor, time)
  }
}
