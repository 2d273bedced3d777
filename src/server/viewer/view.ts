import { approximateLength, type Interval, MINUTE_MS } from '../../candles/intervals.js'
import { seriesName } from '../../candles/series.js'
import type { TimeRange } from '../../candles/time-range.js'
import { CandleChart, timeFormat } from './candle-chart.js'
import { element } from './elements.js'
import { describeLoaded, Legend } from './legend.js'
import type { SeriesWindows } from './series-windows.js'
import { Timeline } from './timeline.js'

/** Candles that are shown of a range with an open end. */
const DEFAULT_CANDLES = 150

/** A series while it is shown. */
export class Session {
  /** The last load: each begins after the one before, so that none loads what another is loading. */
  turn: Promise<void> = Promise.resolve()
  /**
   * Whether nothing is loaded around what is visible: before its first time is, which the chart shows only in the next frame; while that is
   * done; and after a failed load, until somebody says so.
   */
  isHeld = true

  constructor(
    readonly windows: SeriesWindows,
    /** Aborts when another series is shown. */
    readonly signal: AbortSignal,
  ) {}
}

/** The chart of one session with its legend and footer: what is visible of it. */
export class View {
  readonly chart = new CandleChart(element('chart'))
  /** What is shown; undefined before the first candles and without any. */
  session: Session | undefined
  /** The time axis of the windows that are shown. */
  timeline: Timeline | undefined
  private readonly legend = new Legend()
  private readonly status = element('status')
  private describeTime = timeFormat(false)
  /** The place under the crosshair. */
  private pointed: number | undefined

  constructor() {
    this.chart.onCrosshair(index => {
      this.pointed = index
      this.updateLegend()
    })
    this.chart.onMove(() => this.updateLegend())
  }

  /** Draws the windows of a session. With `continues`, the same time stays visible. */
  draw(session: Session, { continues = false } = {}): void {
    const { series, shown, isAtEnd } = session.windows
    this.session = session
    this.timeline = new Timeline(series, shown)
    delete this.chart.element.dataset.stale
    this.chart.setTimeline(this.timeline, { continues, isNewest: isAtEnd })
    const { candles, missing, missingWindows } = this.timeline
    Object.assign(this.status.dataset, { candles, missing, missingWindows })
    this.status.textContent = describeLoaded(this.timeline, session.windows)
    this.updateLegend()
    this.chart.element.ariaLabel = `Candle chart of ${seriesName(series)}: ${this.status.textContent}`
  }

  /** Dims what is shown: something else is loaded. */
  leave(): void {
    this.session = undefined
    this.timeline = undefined
    this.chart.element.dataset.stale = ''
  }

  /** Draws that there is nothing. */
  clear(name: string): void {
    this.leave()
    delete this.chart.element.dataset.stale
    this.chart.clear()
    this.legend.clear(name)
    for (const count of Object.keys(this.status.dataset)) delete this.status.dataset[count]
    this.status.textContent = ''
    this.chart.element.ariaLabel = `${name}: no candles`
  }

  /** Describes the candle under the crosshair, or the last visible one. */
  private updateLegend(): void {
    const { session, timeline, pointed = -1 } = this
    if (!session || !timeline) return
    const { first, last } = this.visiblePlaces ?? { first: 0, last: timeline.length - 1 }
    const index = pointed >= 0 && pointed < timeline.length ? pointed : timeline.lastCandle(first, last)
    this.legend.show(session.windows.series, timeline, index, this.describeTime)
  }

  setZone(isLocal: boolean): void {
    this.describeTime = timeFormat(isLocal)
    this.chart.setZone(isLocal)
    this.updateLegend()
  }

  /** How many places are visible. */
  get screen(): number {
    const { visible } = this.chart
    return visible ? visible.to - visible.from : DEFAULT_CANDLES
  }

  /** The visible time of candles, `[from, to)`. */
  get visibleRange(): TimeRange | undefined {
    const { visiblePlaces, timeline } = this
    if (!timeline || !visiblePlaces) return undefined
    return { fromTime: timeline.openTime(visiblePlaces.first), toTime: timeline.timeAt(visiblePlaces.last + 1) }
  }

  /** The time of as many candles of another length as there are visible places, around the same middle. */
  rangeFor(interval: Interval): TimeRange | undefined {
    const { visiblePlaces, timeline } = this
    if (!timeline || !visiblePlaces) return undefined
    const { first, last } = visiblePlaces
    const middle = (timeline.openTime((first + last) >> 1) + timeline.timeAt(((first + last + 1) >> 1) + 1)) / 2
    const half = ((last - first + 1) * approximateLength(interval)) / 2
    const toMinute = (time: number) => Math.max(0, Math.round(time / MINUTE_MS) * MINUTE_MS)
    return { fromTime: toMinute(middle - half), toTime: toMinute(middle + half) }
  }

  /** The first and the last place of the timeline that are visible. */
  private get visiblePlaces(): { first: number; last: number } | undefined {
    const { timeline } = this
    const { visible } = this.chart
    if (!timeline || !visible) return undefined
    const first = Math.max(0, Math.ceil(visible.from - 0.01))
    const last = Math.min(timeline.length - 1, Math.floor(visible.to + 0.01))
    return first > last ? undefined : { first, last }
  }

  /** Whether the newest candle that there is is visible. */
  get isAtNewest(): boolean {
    const { session, timeline, chart } = this
    if (!session?.windows.isAtEnd || !timeline) return false
    return (chart.visible?.to ?? 0) >= timeline.length - 1
  }

  /** Makes a loaded range visible, up to or from its only end so many candles; returns false when it has no candles, and shows the nearest ones. */
  show({ fromTime, toTime }: TimeRange): boolean {
    const { timeline } = this
    if (!timeline) return false
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
    this.chart.showPlaces({ from: fixed - (fixed - visible.from) * factor, to: fixed + (visible.to - fixed) * factor })
  }
}
