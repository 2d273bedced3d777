import type { KlineRow } from '../../candles/columns.js'
import { trimDecimal } from '../../candles/decimals.js'
import {
  addLengths,
  approximateLength,
  DAY_MS,
  HOUR_MS,
  LENGTHS,
  MINUTE_MS,
  nextOpenTime,
} from '../../candles/intervals.js'
import type { Series } from '../../candles/series.js'
import { plural } from '../../candles/text.js'
import type { WindowSpan } from '../../candles/windows.js'
import { buildSeriesGrid, type CandleGrid } from '../../rows/candle-grid.js'
import { findGaps } from '../../rows/gaps.js'

/** A candle with numbers, for drawing only. `time`: it opens, ms UTC. */
export type Candle = Readonly<Record<'time' | 'open' | 'high' | 'low' | 'close' | 'volume', number>>

/** A window that is loaded, or that the server does not have: then it has no text. */
export interface CandleWindow extends WindowSpan {
  readonly text: string | undefined
  readonly candles: readonly Candle[]
  /** Decimals that its prices really use. */
  readonly decimals: number
}

const MAX_DECIMALS = 15

/** Reads the text of a window, which the server has checked. */
export function parseWindow(span: WindowSpan, text: string | undefined): CandleWindow {
  const rows: KlineRow[] = text === undefined ? [] : JSON.parse(text)
  let decimals = 0
  const candles = rows.map(([openTime, ...texts]) => {
    const [open, high, low, close, volume] = texts.map(Number)
    for (const price of texts.slice(0, 4)) decimals = Math.max(decimals, countDecimals(String(price)))
    return { time: openTime, open, high, low, close, volume }
  })
  return { ...span, text, candles, decimals: Math.min(decimals, MAX_DECIMALS) }
}

/** Decimals without zeros at the end: 2 for `75780.10`, 1 for `75780.1000`. */
function countDecimals(price: string): number {
  return trimDecimal(price).split('.').at(1)?.length ?? 0
}

/** Places that the time between two candles has at most. In a longer time each place stands for several missing candles. */
export const MAX_EMPTY_PLACES = 500

/** Consecutive places without a candle, by their indices; `steps`: how many candles would fit. */
export interface Band {
  readonly from: number
  readonly to: number
  /** Whether the window is not in the mirror; otherwise the candles are missing in the data. */
  readonly isMissing: boolean
  readonly steps: number
}

/** The time axis of a chart: each candle of consecutive windows, and places for those that are missing between them. */
export class Timeline {
  readonly places: (Candle | Pick<Candle, 'time'>)[] = []
  readonly bands: Band[] = []
  /** How many there are, and how many are missing, as `klines verify` counts. */
  candles = 0
  missing = 0
  /** Windows between the candles that are not in the mirror. */
  missingWindows = 0
  readonly decimals: number

  constructor(
    private readonly series: Series,
    private readonly windows: readonly CandleWindow[],
  ) {
    const populated = windows.filter(({ candles }) => candles.length > 0)
    this.decimals = Math.max(0, ...populated.map(({ decimals }) => decimals))
    const [first, last] = [populated.at(0), populated.at(-1)]
    if (!first || !last) return
    const between = windows.slice(windows.indexOf(first), windows.indexOf(last))
    this.missingWindows = between.filter(({ text }) => text === undefined).length
    const grid = buildSeriesGrid(series, first.candles[0].time)
    const spans = joinWindows(windows)
    let previous: Candle | undefined
    for (const candle of populated.flatMap(({ candles }) => candles)) {
      if (previous) this.addGaps(grid, spans, previous.time, candle.time)
      this.places.push(candle)
      this.candles++
      previous = candle
    }
  }

  private addGaps(grid: CandleGrid, spans: readonly Span[], openTime: number, laterOpenTime: number): void {
    const { interval } = this.series
    if (laterOpenTime <= nextOpenTime(interval, openTime)) return
    const found = spans.flatMap(span =>
      findGaps(interval, grid, [span], openTime, laterOpenTime).map(gap => ({ ...gap, isMissing: span.isMissing })),
    )
    const total = found.reduce((sum, { missing }) => sum + missing, 0)
    const scale = Math.min(1, MAX_EMPTY_PLACES / total)
    for (const { startTime, missing: steps, isMissing } of found) {
      const from = this.places.length
      const count = Math.max(1, Math.round(steps * scale))
      for (let place = 0; place < count; place++)
        this.places.push({ time: addLengths(LENGTHS[interval], startTime, Math.floor((place * steps) / count)) })
      this.bands.push({ from, to: from + count - 1, isMissing, steps })
      if (!isMissing) this.missing += steps
    }
  }

  get length(): number {
    return this.places.length
  }

  openTime(index: number): number {
    return this.places[index].time
  }

  /** The time of a place, also of one before or after the timeline, ms UTC. */
  timeAt(place: number): number {
    const { interval } = this.series
    const length = approximateLength(interval)
    if (place < 0) return this.openTime(0) + place * length
    if (place < this.length) return this.openTime(place)
    return nextOpenTime(interval, this.openTime(this.length - 1)) + (place - this.length) * length
  }

  /** Index of the first place that opens at or after `time`; the length when there is none. */
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

  /** The last candle from one place to another; `last` where there is none. */
  lastCandle(first: number, last: number): number {
    for (let index = last; index >= first; index--) if (this.candle(index)) return index
    return last
  }

  bandLabel({ steps, isMissing }: Band): string {
    const { interval } = this.series
    const length = interval === '1M' ? plural(steps, 'month') : formatLength(steps * approximateLength(interval))
    return `${length} ${isMissing ? 'not in this mirror' : 'without candles'}`
  }

  /** The row of a candle as its file has it. */
  row(index: number): KlineRow | undefined {
    const time = this.openTime(index)
    const window = this.windows.find(({ startTime, endTime }) => time >= startTime && time < endTime)
    const rows: KlineRow[] = JSON.parse(window?.text ?? '[]')
    return rows.find(([openTime]) => openTime === time)
  }
}

type Span = { startTime: number; endTime: number; isMissing: boolean }

/** Joins adjacent windows that are all loaded, or all missing. */
function joinWindows(windows: readonly CandleWindow[]) {
  const spans: Span[] = []
  for (const { startTime, endTime, text } of windows) {
    const last = spans.at(-1)
    const isMissing = text === undefined
    if (last?.isMissing === isMissing) last.endTime = endTime
    else spans.push({ startTime, endTime, isMissing })
  }
  return spans
}

/** A length in ms: `45 minutes`, `1 day 8 hours`, `30 days`. */
function formatLength(ms: number): string {
  const parts = { day: ms / DAY_MS, hour: (ms / HOUR_MS) % 24, minute: (ms / MINUTE_MS) % 60 }
  return Object.entries(parts)
    .flatMap(([unit, count]) => (count < 1 ? [] : plural(Math.floor(count), unit)))
    .join(' ')
}
