import { approximateLength, type Interval, MINUTE_MS, nextOpenTime } from '../../../klines/intervals.js'
import { type Series, seriesName } from '../../../klines/series.js'
import { formatCount, plural } from '../../../klines/text.js'
import type { TimeRange } from '../../../klines/time-range.js'
import { formatTime } from './address.js'
import type { SeriesWindows } from './data/series-windows.js'
import { Timeline } from './data/timeline.js'
import type { CandleChart } from './drawing/candle-chart.js'
import { TimeFormat } from './drawing/time-format.js'
import { element } from './element.js'
import { Legend } from './legend.js'

/** A series while it is shown: its windows, and the time axis of those that are shown. */
export class Session {
  timeline: Timeline
  /** A failed load is not repeated before somebody says so. */
  hasFailed = false
  isFilling = false
  /** Whether its first time is visible: the chart moves there only in the next frame. */
  isPlaced = false
  private work: Promise<unknown> = Promise.resolve()

  constructor(
    readonly windows: SeriesWindows,
    /** Aborts when another series is shown. */
    readonly signal: AbortSignal,
  ) {
    this.timeline = this.readTimeline()
  }

  get series() {
    return this.windows.series
  }

  readTimeline(): Timeline {
    return new Timeline(this.series, this.windows.windows)
  }

  /** Runs one load after the other, so that none loads what another is loading. */
  queue<T>(load: () => Promise<T>): Promise<T> {
    const result = this.work.then(load)
    this.work = result.catch(() => {})
    return result
  }
}

/** Candles that are shown of a range with an open end. */
const DEFAULT_CANDLES = 150

/** The chart of one session with its legend and footer. */
export class SessionView {
  /** What is shown; undefined before the first candles and without any. */
  session: Session | undefined
  private readonly legend = new Legend()
  private readonly footer = new Footer()
  private format = new TimeFormat(false)
  /** The place under the crosshair. */
  private pointed: number | undefined

  constructor(readonly chart: CandleChart) {
    chart.onCrosshair(index => {
      this.pointed = index
      this.updateLegend()
    })
    chart.onMove(() => this.updateLegend())
  }

  /** Draws the windows of a session. With `continues`, the same time stays visible. */
  draw(session: Session, { continues = false } = {}): void {
    const { windows, series } = session
    session.timeline = session.readTimeline()
    this.session = session
    delete this.chart.element.dataset.stale
    this.chart.setTimeline(session.timeline, { continues })
    this.chart.markLastPrice(windows.isAtEnd)
    this.footer.show(session.timeline, windows)
    this.updateLegend()
    this.chart.element.ariaLabel = `Candle chart of ${seriesName(series)}: ${this.footer.text}`
  }

  /** Draws that there is nothing. */
  clear(name: string): void {
    this.session = undefined
    delete this.chart.element.dataset.stale
    this.chart.clear()
    this.legend.clear(name)
    this.footer.clear()
    this.chart.element.ariaLabel = `${name}: no candles`
  }

  /** Describes the candle under the crosshair, or the last visible one. */
  private updateLegend(): void {
    if (!this.session) return
    const { series, timeline } = this.session
    const isPointed = this.pointed !== undefined && this.pointed >= 0 && this.pointed < timeline.length
    const { first, last } = this.visiblePlaces ?? { first: 0, last: timeline.length - 1 }
    const index = isPointed ? Number(this.pointed) : timeline.lastCandle(first, last)
    this.legend.show(series, timeline, index, this.format)
  }

  setTimeFormat(format: TimeFormat): void {
    this.format = format
    this.chart.setTimeFormat(format)
    this.updateLegend()
  }

  get series(): Series | undefined {
    return this.session?.series
  }

  /** How many places are visible. */
  get screen(): number {
    const { visible } = this.chart
    return visible ? visible.to - visible.from : DEFAULT_CANDLES
  }

  /** The visible time of candles, `[from, to)`. */
  get visibleRange(): TimeRange | undefined {
    const { session, visiblePlaces } = this
    if (!session || !visiblePlaces) return undefined
    const { first, last } = visiblePlaces
    return { fromTime: session.timeline.openTime(first), toTime: this.endTime(session, last) }
  }

  /** The time of as many candles of another length as there are visible places, around the same middle. */
  rangeFor(interval: Interval): TimeRange | undefined {
    const { session, visiblePlaces } = this
    if (!session || !visiblePlaces) return undefined
    const { first, last } = visiblePlaces
    const middle = (session.timeline.openTime((first + last) >> 1) + this.endTime(session, (first + last + 1) >> 1)) / 2
    const half = ((last - first + 1) * approximateLength(interval)) / 2
    const toMinute = (time: number) => Math.max(0, Math.round(time / MINUTE_MS) * MINUTE_MS)
    return { fromTime: toMinute(middle - half), toTime: toMinute(middle + half) }
  }

  /** The first and the last place of the timeline that are visible. */
  private get visiblePlaces(): { first: number; last: number } | undefined {
    const { timeline } = this.session ?? {}
    const { visible } = this.chart
    if (!timeline || !visible) return undefined
    const first = Math.max(0, Math.ceil(visible.from - 0.01))
    const last = Math.min(timeline.length - 1, Math.floor(visible.to + 0.01))
    return first > last ? undefined : { first, last }
  }

  /** When the place after another one opens, ms UTC. */
  private endTime({ timeline, series }: Session, index: number): number {
    const isNewest = index === timeline.length - 1
    return isNewest ? nextOpenTime(series.interval, timeline.openTime(index)) : timeline.openTime(index + 1)
  }

  /** Whether the newest candle that there is is visible. */
  get isAtNewest(): boolean {
    const { session, chart } = this
    if (!session?.windows.isAtEnd) return false
    return (chart.visible?.to ?? 0) >= session.timeline.length - 1
  }

  /** Makes a loaded range visible, up to or from its only end so many candles; returns false when it has no candles, and shows the nearest ones. */
  show({ timeline }: Session, { fromTime, toTime }: TimeRange): boolean {
    const end = timeline.indexFrom(toTime) - 1
    const from = Number.isFinite(fromTime) ? timeline.indexFrom(fromTime) : end - DEFAULT_CANDLES
    const to = Number.isFinite(toTime) ? end : from + DEFAULT_CANDLES
    const isThere = from < timeline.length && to >= Math.max(from, 0)
    if (isThere) this.chart.showPlaces({ from, to })
    else this.showNearest(timeline, Number.isFinite(fromTime) ? fromTime : toTime)
    return isThere
  }

  /** Shows the candles nearest to a time without any, ms UTC. */
  private showNearest(timeline: Timeline, time: number): void {
    const place = timeline.indexFrom(time)
    const band = timeline.band(place)
    let start = Math.min(place, timeline.length - DEFAULT_CANDLES)
    if (band) {
      // The nearer end of the band, in the middle.
      const isFirstHalf = place - band.from < band.to - place
      start = (isFirstHalf ? band.from : band.to) - DEFAULT_CANDLES / 2
    }
    this.chart.showPlaces({ from: start, to: start + DEFAULT_CANDLES })
  }

  /** Moves by a part of the visible time; negative to the past. */
  pan(screens: number): void {
    const { visible } = this.chart
    if (!visible) return
    const distance = Math.sign(screens) * Math.max(1, Math.abs(screens) * this.screen)
    this.chart.showPlaces({ from: visible.from + distance, to: visible.to + distance })
  }

  /** Shows `factor` times as many candles: around the middle, or up to the newest one when that is visible. */
  zoom(factor: number): void {
    const { visible } = this.chart
    if (!visible) return
    const fixed = this.isAtNewest ? visible.to : (visible.from + visible.to) / 2
    this.chart.showPlaces({
      from: fixed - (fixed - visible.from) * factor,
      to: fixed + (visible.to - fixed) * factor,
    })
  }
}

/** Says what is loaded, for people and for screen readers. */
class Footer {
  private readonly status = element('status')

  get text(): string {
    return this.status.textContent
  }

  show(timeline: Timeline, windows: SeriesWindows): void {
    const { candles, missing, missingWindows, length } = timeline
    const [first, last] = [0, length - 1].map(index =>
      formatTime(timeline.openTime(index)).replace('T', ' ').replace('Z', ''),
    )
    const parts = [
      `${plural(candles, 'candle')} from ${first} to ${last} UTC, ${formatCount(missing)} missing`,
      ...(missingWindows > 0 ? [`${plural(missingWindows, 'window')} not in this mirror`] : []),
      ...(windows.isAtStart && windows.isAtEnd
        ? [windows.coverage.upstream ? 'all there are' : 'all in this mirror']
        : []),
    ]
    Object.assign(this.status.dataset, { candles, missing, missingWindows })
    this.status.textContent = parts.join(' · ')
  }

  clear(): void {
    for (const name of Object.keys(this.status.dataset)) delete this.status.dataset[name]
    this.status.textContent = ''
  }
}
