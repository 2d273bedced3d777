import type { TimeRange } from './address.js'
import { type Absence, describeAbsence } from './choice.js'
import { lengthMs, nextOpenTime } from './data/interval.js'
import { SeriesWindows } from './data/series-windows.js'
import type { Series } from './data/service.js'
import { CandleChart } from './drawing/candle-chart.js'
import { TimeFormat } from './drawing/time-format.js'
import { element } from './element.js'
import { Footer } from './footer.js'
import { Legend } from './legend.js'
import { Message } from './message.js'
import { Session } from './session.js'

/** Series that stay loaded, so that a switch back is instant. */
const MAX_SERIES = 8
/** A history with more candles is not loaded as a whole to show its start. */
const MAX_HISTORY = 100_000
const DEFAULT_CANDLES = 150

/** Shows one series: loads what is visible and draws it. */
export class Viewer {
  readonly chart = new CandleChart(element('chart'))
  readonly message = new Message()
  private readonly legend = new Legend()
  private readonly footer = new Footer()
  private readonly loaded = new Map<string, SeriesWindows>()
  private session: Session | undefined
  private opening = new AbortController()
  private format = new TimeFormat(false)
  private pointed: number | undefined

  /** `onMove`: called when other candles become visible. */
  constructor(onMove: () => void) {
    this.chart.onMove(() => {
      onMove()
      void this.fill()
    })
    this.chart.onCrosshair(index => {
      this.pointed = index
      this.updateLegend()
    })
  }

  get series(): Series | undefined {
    return this.session?.series
  }

  /** Shows a series: its newest candles, or those of a range. Ends what is under way for another one. */
  async open(series: Series, range?: TimeRange): Promise<void> {
    performance.mark('klines:series-requested')
    this.opening.abort()
    this.opening = new AbortController()
    const { signal } = this.opening
    this.session = undefined
    this.message.hide()
    this.chart.element.ariaBusy = 'true'
    try {
      const windows = await this.openWindows(series, signal)
      if (!windows.isEmpty) await (range ? windows.showRange(range, signal) : windows.showNewest(signal))
      if (range && !windows.isEmpty && !windows.hasCandles) await windows.showNewest(signal)
      if (!windows.hasCandles) return await this.showAbsence(windows)
      this.session = new Session(windows, signal)
      this.draw(this.session)
      if (range) this.show(this.session, range)
      else this.chart.showNewest()
      await nextFrame()
      performance.mark('klines:series-drawn')
      performance.measure('klines:series', 'klines:series-requested', 'klines:series-drawn')
    } catch (error) {
      if (signal.aborted) return
      if (!this.session) this.clear(series)
      this.message.show(String((error as Error).message), { retry: () => void this.open(series, range) })
    } finally {
      if (!signal.aborted) this.chart.element.ariaBusy = 'false'
    }
    if (!signal.aborted) void this.fill()
  }

  /** Those that were shown last stay loaded. */
  private async openWindows(series: Series, signal: AbortSignal): Promise<SeriesWindows> {
    const key = `${series.symbol} ${series.interval}`
    const windows = this.loaded.get(key) ?? (await SeriesWindows.open(series, signal))
    this.loaded.delete(key)
    this.loaded.set(key, windows)
    const [oldest] = this.loaded.keys()
    if (this.loaded.size > MAX_SERIES) this.loaded.delete(oldest)
    return windows
  }

  private async showAbsence({ series, coverage }: SeriesWindows): Promise<void> {
    this.clear(series)
    const { problem, choices } = await describeAbsence(series, coverage.known)
    this.message.show(problem, { choices })
  }

  /** Shows why there is nothing to show, and what there is instead. */
  refuse({ problem, choices }: Absence): void {
    this.opening.abort()
    this.session = undefined
    this.chart.clear()
    this.legend.clear('No candles')
    this.footer.clear()
    this.message.show(problem, { choices })
  }

  private clear({ symbol, interval }: Series): void {
    this.chart.clear()
    this.legend.clear(`${symbol} ${interval}`)
    this.footer.clear()
  }

  /** Draws what is loaded. With `continues`, the same time stays visible. */
  private draw(session: Session, continues = false): void {
    const { windows, series } = session
    session.timeline = session.readTimeline()
    this.chart.setTimeline(session.timeline, { continues })
    this.chart.markLastPrice(windows.isAtEnd)
    this.footer.show(session.timeline, windows)
    this.updateLegend()
    this.chart.element.ariaLabel = `Candle chart of ${series.symbol} ${series.interval}: ${this.footer.text}`
  }

  private updateLegend(): void {
    if (!this.session) return
    const { series, timeline } = this.session
    const newest = timeline.length - 1
    const index = this.pointed !== undefined && this.pointed >= 0 && this.pointed <= newest ? this.pointed : newest
    this.legend.show(series, timeline, index, this.format)
  }

  /** Loads more while less than another screen of candles is loaded on either side. */
  private async fill(): Promise<void> {
    const { session, chart } = this
    if (!session || session.isFilling || session.hasFailed) return
    session.isFilling = true
    const { windows, signal } = session
    await this.load(session, async () => {
      for (;;) {
        const { from, to } = chart.visible ?? { from: 0, to: 0 }
        const screen = to - from
        if (from < screen && !windows.isAtStart) await windows.extendBack(signal)
        // Under a finger or a held button, candles on the right would move those that are visible.
        else if (session.timeline.length - to < screen && !windows.isAtEnd && !chart.isDragged)
          await windows.extendForward(signal)
        else break
        this.draw(session, true)
        await nextFrame()
      }
    })
    session.isFilling = false
  }

  /** Runs a load; a failure is shown, and what is loaded stays. */
  private async load(session: Session, work: () => Promise<void>): Promise<void> {
    const { element } = this.chart
    element.ariaBusy = 'true'
    try {
      await session.queue(work)
    } catch (error) {
      if (session.signal.aborted) return
      session.hasFailed = true
      const retry = () => {
        session.hasFailed = false
        void this.load(session, work)
      }
      this.message.show(String((error as Error).message), { retry })
    } finally {
      if (!session.signal.aborted) element.ariaBusy = 'false'
    }
  }

  /** The visible time of candles, `[from, to)`. */
  get visibleRange(): TimeRange | undefined {
    const { timeline, series } = this.session ?? {}
    const { visible } = this.chart
    if (!timeline || !series || !visible) return undefined
    const first = Math.max(0, Math.ceil(visible.from - 0.01))
    const last = Math.min(timeline.length - 1, Math.floor(visible.to + 0.01))
    if (first > last) return undefined
    const to =
      last + 1 < timeline.length ? timeline.openTime(last + 1) : nextOpenTime(series.interval, timeline.openTime(last))
    return { from: timeline.openTime(first), to }
  }

  /** Whether the newest candle that there is is visible. */
  get isAtNewest(): boolean {
    const { session, chart } = this
    if (!session?.windows.isAtEnd) return false
    return (chart.visible?.to ?? 0) >= session.timeline.length - 1
  }

  /** Makes a range visible that is loaded, or what is nearest to it. */
  private show({ timeline }: Session, { from, to }: TimeRange): void {
    const first = timeline.indexFrom(from)
    const last = to > from ? timeline.indexFrom(to) - 1 : first + DEFAULT_CANDLES
    if (first >= timeline.length || last < 0) {
      this.message.show('There are no candles in the time of this address; these are the nearest.')
      const start = last < 0 ? 0 : timeline.length - DEFAULT_CANDLES
      this.chart.showPlaces({ from: start, to: start + DEFAULT_CANDLES })
    } else this.chart.showPlaces({ from: first, to: Math.max(first, last) })
  }

  /** Jumps to a time, ms UTC, with as many candles as are visible. */
  jump(from: number): void {
    const { session } = this
    if (!session) return
    const { from: left, to: right } = this.chart.visible ?? { from: 0, to: DEFAULT_CANDLES }
    const to = from + (right - left) * (lengthMs(session.series.interval) ?? 30 * 86_400_000)
    void this.load(session, async () => {
      await session.windows.showRange({ from, to }, session.signal)
      this.draw(session)
      this.show(session, { from, to })
      await nextFrame()
    }).then(() => this.fill())
  }

  /** Shows the first candles: of the whole history, unless that is too much for one chart. */
  showFirst(): void {
    const { session, chart } = this
    if (!session) return
    const { windows, signal } = session
    const { from, to } = chart.visible ?? { from: 0, to: DEFAULT_CANDLES }
    void this.load(session, async () => {
      if (windows.candlesBefore > MAX_HISTORY) await windows.showOldest(signal)
      while (!windows.isAtStart) {
        await windows.extendBack(signal)
        this.draw(session, true)
        await nextFrame()
      }
      this.draw(session)
      chart.showPlaces({ from: 0, to: to - from })
    })
  }

  /** Shows the newest candles. */
  showNewest(): void {
    const { session, chart } = this
    if (!session) return
    const { from, to } = chart.visible ?? { from: 0, to: DEFAULT_CANDLES }
    void this.load(session, async () => {
      await session.windows.showNewest(session.signal)
      this.draw(session)
      chart.showNewest(to - from)
      await nextFrame()
    }).then(() => this.fill())
  }

  /** Moves by a part of the visible time; negative to the past. */
  pan(screens: number): void {
    const { visible } = this.chart
    if (!visible) return
    const distance = Math.sign(screens) * Math.max(1, Math.abs(screens) * (visible.to - visible.from))
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

  setLog(isLog: boolean): void {
    this.chart.setLog(isLog)
  }

  setTimeFormat(format: TimeFormat): void {
    this.format = format
    this.chart.setTimeFormat(format)
    this.updateLegend()
  }
}

function nextFrame(): Promise<void> {
  return new Promise(resolve => requestAnimationFrame(() => resolve()))
}
