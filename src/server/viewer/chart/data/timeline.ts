import type { Candle, CandleWindow, Row } from './candle-window.js'
import { GapFinder } from './gaps.js'
import { type Interval, laterOpenTime } from './interval.js'

/**
 * Places that the time between two candles has at most: a few screens, however long it is. In a longer time each place stands for
 * several missing candles.
 */
export const MAX_EMPTY_PLACES = 500

/** A place on the time axis without a candle. */
export interface EmptyPlace {
  /** Seconds. */
  readonly time: number
}

/** Consecutive places without a candle, by their indices. */
export interface Band {
  readonly from: number
  readonly to: number
  /** Whether the window is not in the mirror; otherwise the candles are missing in the data. */
  readonly isMissing: boolean
  /** How many candles would fit: more than places in a long time. */
  readonly steps: number
}

/** The time axis of a chart: each candle of consecutive windows, and places for those that are missing between them. */
export class Timeline {
  readonly places: (Candle | EmptyPlace)[] = []
  readonly bands: Band[] = []
  /** How many candles there are, and how many `klines verify` counts as missing. */
  candles = 0
  missing = 0
  /** Windows between the candles that are not in the mirror. */
  missingWindows = 0
  readonly decimals: number
  private parsed: { window: CandleWindow; rows: readonly Row[] } | undefined

  constructor(
    readonly interval: Interval,
    private readonly windows: readonly CandleWindow[],
  ) {
    const populated = windows.filter(({ candles }) => candles.length > 0)
    this.decimals = Math.max(0, ...populated.map(({ decimals }) => decimals))
    const [first, last] = [populated.at(0), populated.at(-1)]
    if (!first || !last) return
    const between = windows.slice(windows.indexOf(first), windows.indexOf(last))
    this.missingWindows = between.filter(({ text }) => text === undefined).length
    const gaps = new GapFinder(interval, first.candles[0].time * 1000, windows)
    let previous: Candle | undefined
    for (const { candles } of populated) {
      for (const candle of candles) {
        if (previous) this.addGaps(gaps, previous, candle)
        this.places.push(candle)
        previous = candle
      }
      this.candles += candles.length
    }
  }

  private addGaps(finder: GapFinder, previous: Candle, candle: Candle): void {
    const found = finder.between(toMs(previous.time), toMs(candle.time))
    const total = found.reduce((sum, { steps }) => sum + steps, 0)
    const scale = Math.min(1, MAX_EMPTY_PLACES / total)
    for (const { startTime, steps, isMissing } of found) {
      const from = this.places.length
      const count = Math.max(1, Math.round(steps * scale))
      for (let place = 0; place < count; place++) {
        const time = laterOpenTime(this.interval, startTime, Math.floor((place * steps) / count))
        this.places.push({ time: time / 1000 })
      }
      this.bands.push({ from, to: from + count - 1, isMissing, steps })
      if (!isMissing) this.missing += steps
    }
  }

  get length(): number {
    return this.places.length
  }

  /** Open time of a place, ms UTC. */
  openTime(index: number): number {
    return toMs(this.places[index].time)
  }

  /** Index of the first place that opens at or after `time`, ms UTC; the length when there is none. */
  indexFrom(time: number): number {
    let [low, high] = [0, this.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.openTime(middle) < time) low = middle + 1
      else high = middle
    }
    return low
  }

  candle(index: number): Candle | undefined {
    const place = this.places[index]
    return place && 'open' in place ? place : undefined
  }

  band(index: number): Band | undefined {
    return this.bands.find(({ from, to }) => index >= from && index <= to)
  }

  /** The row of a candle as its file has it. The window of the last one is kept parsed. */
  row(index: number): Row | undefined {
    const time = this.openTime(index)
    const window = this.windows.find(({ startTime, endTime }) => time >= startTime && time < endTime)
    if (!window?.text) return undefined
    if (this.parsed?.window !== window) this.parsed = { window, rows: JSON.parse(window.text) }
    return this.parsed.rows.find(([openTime]) => openTime === time)
  }
}

function toMs(seconds: number): number {
  return Math.round(seconds * 1000)
}
