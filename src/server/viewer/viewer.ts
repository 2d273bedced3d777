import { approximateLength, MINUTE_MS } from '../../candles/intervals.js'
import { type Series, seriesName } from '../../candles/series.js'
import type { TimeRange } from '../../candles/time-range.js'
import { type Absence, describeAbsence } from './absence.js'
import { CandleChart, timeFormat } from './candle-chart.js'
import { element } from './elements.js'
import { describeLoaded, Legend } from './legend.js'
import { followSeries } from './live.js'
import { Messages } from './messages.js'
import { MAX_CANDLES, SeriesWindows } from './series-windows.js'
import { readCoverage } from './service.js'
import { Timeline } from './timeline.js'

/** Candles that are shown of a range with an open end. */
const DEFAULT_CANDLES = 150

/** A series while it is shown. */
interface Session {
  readonly windows: SeriesWindows
  timeline: Timeline
  /** The last load: each begins after the one before, so that none loads what another is loading. */
  turn: Promise<void>
  /** Whether `fill` has to wait: for the first frame, for another load, and after a failed one for a click. */
  isHeld: boolean
}

/** Loads series and what people move to, and draws the chart, its legend and the footer. */
export class Viewer {
  readonly chart = new CandleChart(element('chart'))
  readonly messages = new Messages(this.chart.element)
  private readonly legend = new Legend()
  private readonly status = element('status')
  private opening = new AbortController()
  private session: Session | undefined
  private describeTime = timeFormat(false)
  private pointed: number | undefined

  /** `onMove`: called when other candles become visible. */
  constructor(onMove: () => void) {
    this.chart.onCrosshair(index => {
      this.pointed = index
      this.updateLegend()
    })
    this.chart.onMove(() => {
      this.updateLegend()
      onMove()
      void this.fill()
    })
  }

  get windows(): SeriesWindows | undefined {
    return this.session?.windows
  }

  /** Ends what is under way, and runs what shows something else. */
  async start(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.opening.abort()
    this.opening = new AbortController()
    const { signal } = this.opening
    this.session = undefined
    // Dims what is shown.
    this.chart.element.dataset.stale = ''
    this.messages.hide()
    await this.attempt(work(signal), signal, () => void this.start(work))
  }

  /** Shows a series: its newest candles, or those of a range. Throws what loading throws. */
  async open(series: Series, range: TimeRange | undefined, signal: AbortSignal): Promise<void> {
    const windows = await SeriesWindows.open(series, signal)
    await (range ? windows.showRange(range) : windows.showNewest())
    if (!windows.hasCandles) {
      const coverage = await readCoverage(signal)
      const { problem, choices } = describeAbsence(coverage, series, windows.coverage.known)
      return this.refuse({ problem: `${windows.fault ?? ''} ${problem}`.trim(), choices }, seriesName(series))
    }
    const timeline = new Timeline(series, windows.shown)
    const session = { windows, timeline, turn: Promise.resolve(), isHeld: true }
    this.draw(session)
    if (!range) this.chart.showNewest()
    else this.show(range, 'There are no candles in the time of this address; these are the nearest.')
    await nextFrame()
    signal.throwIfAborted()
    session.isHeld = false
    await this.fill()
    const newest = windows.isAtEnd ? timeline.row(timeline.length - 1) : undefined
    if (windows.coverage.upstream) followSeries(windows, newest, time => this.goOn(session, time))
    // A short series is as wide as the screen.
    const { length } = session.timeline
    if (!range && windows.isAtStart && length < this.screen) this.chart.showNewest(Math.max(40, length + 3))
  }

  refuse({ problem, choices }: Absence, name = 'No candles'): void {
    this.clear(name)
    this.messages.show(problem, { choices })
  }

  /** Jumps to a time, ms UTC, with as many candles as are visible. */
  async jump(fromTime: number): Promise<void> {
    if (!this.windows) return
    const range = { fromTime, toTime: fromTime + this.screen * approximateLength(this.windows.series.interval) }
    const place = () => this.show(range, 'There are no candles then; these are the nearest.')
    await this.move(windows => windows.showRange(range), place)
  }

  async showFirst(): Promise<void> {
    const to = this.screen
    const place = () => this.chart.showPlaces({ from: 0, to })
    await this.move(windows => windows.showFirst(), place)
  }

  async showNewest(): Promise<void> {
    const { screen } = this
    const place = () => this.chart.showNewest(screen)
    await this.move(windows => windows.showNewest(), place)
  }

  /** Draws what has closed, up to a time. Who looks at the newest candle goes on to do so. */
  private goOn(session: Session, time: number): void {
    const work = async () => {
      await session.windows.goOn(time)
      const { isAtNewest } = this
      const { length } = session.timeline
      this.draw(session, { continues: true })
      if (isAtNewest) this.pan((session.timeline.length - length) / this.screen)
    }
    session.turn = session.turn.then(work).catch(() => {})
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

  setZone(isLocal: boolean): void {
    this.describeTime = timeFormat(isLocal)
    this.chart.setZone(isLocal)
    this.updateLegend()
  }

  private get screen(): number {
    const { visible } = this.chart
    return visible ? visible.to - visible.from : DEFAULT_CANDLES
  }

  private get visiblePlaces(): { timeline: Timeline; first: number; last: number } | undefined {
    const { session, chart } = this
    if (!session || !chart.visible) return undefined
    const { timeline } = session
    const first = Math.max(0, Math.ceil(chart.visible.from - 0.01))
    const last = Math.min(timeline.length - 1, Math.floor(chart.visible.to + 0.01))
    return first > last ? undefined : { timeline, first, last }
  }

  /** The visible time, `[from, to)`; for another interval, that of as many of its candles around the same middle. */
  visibleRange(interval = this.windows?.series.interval): TimeRange | undefined {
    const places = this.visiblePlaces
    if (!places || !interval) return undefined
    const { timeline, first, last } = places
    const [fromTime, toTime] = [timeline.openTime(first), timeline.timeAt(last + 1)]
    if (interval === this.windows?.series.interval) return { fromTime, toTime }
    const middle = (fromTime + toTime) / 2
    const half = ((last - first + 1) * approximateLength(interval)) / 2
    const toMinute = (time: number) => Math.max(0, Math.round(time / MINUTE_MS) * MINUTE_MS)
    return { fromTime: toMinute(middle - half), toTime: toMinute(middle + half) }
  }

  get isAtNewest(): boolean {
    const { session, chart } = this
    if (!session?.windows.isAtEnd) return false
    return (chart.visible?.to ?? 0) >= session.timeline.length - 1
  }

  /** With `continues`, the same time stays visible. */
  private draw(session: Session, { continues = false } = {}): void {
    const { series, shown, isAtEnd } = session.windows
    const timeline = new Timeline(series, shown)
    this.session = session
    session.timeline = timeline
    delete this.chart.element.dataset.stale
    this.chart.setTimeline(timeline, { continues, isNewest: isAtEnd })
    if (session.windows.fault) this.messages.show(session.windows.fault)
    this.status.textContent = describeLoaded(timeline, session.windows)
    this.updateLegend()
    this.chart.element.ariaLabel = `Candle chart of ${seriesName(series)}: ${this.status.textContent}`
  }

  private clear(name: string): void {
    this.session = undefined
    delete this.chart.element.dataset.stale
    this.chart.drawData()
    this.legend.clear(name)
    this.status.textContent = ''
    this.chart.element.ariaLabel = `${name}: no candles`
  }

  /** Describes the candle under the crosshair, or the last visible one. */
  private updateLegend(): void {
    const { session, pointed = -1 } = this
    if (!session) return
    const { windows, timeline } = session
    const { first, last } = this.visiblePlaces ?? { first: 0, last: timeline.length - 1 }
    const index = pointed >= 0 && pointed < timeline.length ? pointed : timeline.lastCandle(first, last)
    this.legend.show(windows.series, timeline, index, this.describeTime)
  }

  /** Makes a loaded range visible; without candles in it, the nearest ones with a message. */
  private show({ fromTime, toTime }: TimeRange, message: string): void {
    const { session, chart } = this
    if (!session) return
    const { timeline } = session
    const end = timeline.indexFrom(toTime) - 1
    const from = Number.isFinite(fromTime) ? timeline.indexFrom(fromTime) : end - DEFAULT_CANDLES
    const to = Number.isFinite(toTime) ? end : from + DEFAULT_CANDLES
    const isThere = from < timeline.length && to >= Math.max(from, 0)
    const place = timeline.indexFrom(Number.isFinite(fromTime) ? fromTime : toTime)
    const band = timeline.band(place) ?? { from: place, to: place }
    const near = place - band.from < band.to - place ? band.from : band.to
    const start = Math.max(0, Math.min(near - DEFAULT_CANDLES / 2, timeline.length - DEFAULT_CANDLES))
    chart.showPlaces(isThere ? { from, to } : { from: start, to: start + DEFAULT_CANDLES })
    if (!isThere) this.messages.show(message)
  }

  /** Loads another screen of candles on either side, as far as there is room; what is far from the screen is dropped. */
  private async fill(): Promise<void> {
    const { session, chart } = this
    if (!session || session.isHeld) return
    await this.load(session, async () => {
      const { windows } = session
      while (!windows.signal.aborted) {
        const { timeline } = session
        const room = Math.min(this.screen, (MAX_CANDLES - this.screen) / 2)
        const { from, to } = chart.visible ?? { from: 0, to: 0 }
        const [first, last] = [Math.floor(from - room), Math.ceil(to + room)]
        if (room < 0) break
        // Under a finger or a held button, candles on the right would move those that are visible.
        const isBack = first < 0 && !windows.isAtStart
        if (!isBack && (last <= timeline.length || windows.isAtEnd || chart.isDragged)) break
        await windows.extend(isBack ? -1 : 1)
        const far = isBack ? { after: timeline.timeAt(last) } : { before: timeline.timeAt(first) }
        if (!chart.isDragged) windows.drop(far)
        this.draw(session, { continues: true })
        await nextFrame()
      }
    })
  }

  private async move(load: (windows: SeriesWindows) => Promise<void>, place: () => void): Promise<void> {
    const { session } = this
    this.messages.hide()
    if (!session) return
    await this.load(session, async () => {
      await load(session.windows)
      this.draw(session)
      place()
      await nextFrame()
    })
    await this.fill()
  }

  /** Runs a load; when it fails, what is loaded stays. */
  private async load(session: Session, work: () => Promise<void>): Promise<void> {
    session.isHeld = true
    const done = session.turn.then(work).then(() => {
      session.isHeld = false
    })
    session.turn = done.catch(() => {})
    await this.attempt(done, session.windows.signal, () => void this.load(session, work).then(() => this.fill()))
  }

  /** Shows a failure with a button that tries again. */
  private async attempt(work: Promise<void>, signal: AbortSignal, retry: () => void): Promise<void> {
    try {
      await this.messages.during(work)
    } catch (error) {
      if (signal.aborted) return
      if (!this.session) this.clear('No candles')
      this.messages.show((error as Error).message, { retry })
    }
  }
}

/** The chart has taken what it was told in the next frame. */
function nextFrame(): Promise<void> {
  return new Promise(resolve => requestAnimationFrame(() => resolve()))
}
