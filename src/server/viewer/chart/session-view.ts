import type { TimeRange } from './address.js'
import { nextOpenTime } from './data/interval.js'
import type { Series } from './data/service.js'
import type { CandleChart } from './drawing/candle-chart.js'
import { TimeFormat } from './drawing/time-format.js'
import { Footer } from './footer.js'
import { Legend } from './legend.js'
import type { Session } from './session.js'

/** Candles that are shown of a range without an end. */
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
  }

  /** Draws the windows of a session. With `continues`, the same time stays visible. */
  draw(session: Session, { continues = false } = {}): void {
    const { windows, series } = session
    session.timeline = session.readTimeline()
    this.session = session
    this.chart.setTimeline(session.timeline, { continues })
    this.chart.markLastPrice(windows.isAtEnd)
    this.footer.show(session.timeline, windows)
    this.updateLegend()
    this.chart.element.ariaLabel = `Candle chart of ${series.symbol} ${series.interval}: ${this.footer.text}`
  }

  /** Draws that there is nothing. */
  clear(name: string): void {
    this.session = undefined
    this.chart.clear()
    this.legend.clear(name)
    this.footer.clear()
    this.chart.element.ariaLabel = `${name}: no candles`
  }

  private updateLegend(): void {
    if (!this.session) return
    const { series, timeline } = this.session
    const newest = timeline.length - 1
    const index = this.pointed !== undefined && this.pointed >= 0 && this.pointed <= newest ? this.pointed : newest
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
    const { timeline, series } = this.session ?? {}
    const { visible } = this.chart
    if (!timeline || !series || !visible) return undefined
    const first = Math.max(0, Math.ceil(visible.from - 0.01))
    const last = Math.min(timeline.length - 1, Math.floor(visible.to + 0.01))
    if (first > last) return undefined
    const isNewest = last === timeline.length - 1
    const to = isNewest ? nextOpenTime(series.interval, timeline.openTime(last)) : timeline.openTime(last + 1)
    return { from: timeline.openTime(first), to }
  }

  /** Whether the newest candle that there is is visible. */
  get isAtNewest(): boolean {
    const { session, chart } = this
    if (!session?.windows.isAtEnd) return false
    return (chart.visible?.to ?? 0) >= session.timeline.length - 1
  }

  /** Makes a loaded range visible; returns false when it has no candles, and shows the nearest ones. */
  show({ timeline }: Session, { from, to }: TimeRange): boolean {
    const first = timeline.indexFrom(from)
    const last = to > from ? timeline.indexFrom(to) - 1 : first + DEFAULT_CANDLES
    const isThere = first < timeline.length && last >= first
    const start = isThere ? first : Math.min(first, timeline.length - DEFAULT_CANDLES)
    this.chart.showPlaces({ from: start, to: isThere ? last : start + DEFAULT_CANDLES })
    return isThere
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
