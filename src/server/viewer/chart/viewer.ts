import { type Series, seriesName } from '../../../klines/series.js'
import type { TimeRange } from '../../../klines/time-range.js'
import { Activity } from './activity.js'
import { type Absence, describeAbsence } from './choice.js'
import { SeriesWindows } from './data/series-windows.js'
import { readCoverage, requestPause } from './data/service.js'
import { CandleChart } from './drawing/candle-chart.js'
import { element } from './element.js'
import { Loader, nextFrame } from './loader.js'
import { Message } from './message.js'
import { Session, SessionView } from './session-view.js'

/** Series that stay loaded, so that a switch back is instant. */
const MAX_SERIES = 8

/** Opens one series after the other. */
export class Viewer {
  readonly message = new Message()
  readonly view = new SessionView(new CandleChart(element('chart')))
  readonly activity = new Activity(this.view.chart.element, requestPause)
  readonly loader = new Loader(this.view, this.message, this.activity)
  private readonly loaded = new Map<string, SeriesWindows>()
  private opening = new AbortController()

  /** `onMove`: called when other candles become visible. */
  constructor(onMove: () => void) {
    this.view.chart.onMove(() => {
      onMove()
      void this.loader.fill()
    })
  }

  /** Shows a series: its newest candles, or those of a range. Ends what is under way for another one. */
  async open(series: Series, range?: TimeRange): Promise<void> {
    performance.mark('klines:series-requested')
    const signal = this.begin()
    this.activity.begin(seriesName(series))
    await this.activity.during(async () => {
      await this.openSeries(series, range, signal)
      await this.loader.fill()
    })
  }

  private async openSeries(series: Series, range: TimeRange | undefined, signal: AbortSignal): Promise<void> {
    try {
      const windows = await this.openWindows(series, signal)
      if (!windows.isEmpty) await (range ? windows.showRange(range, signal) : windows.showNewest(signal))
      if (!windows.hasCandles) return await this.showAbsence(windows, signal)
      await this.draw(new Session(windows, signal), range)
      performance.mark('klines:series-drawn')
      performance.measure('klines:series', 'klines:series-requested', 'klines:series-drawn')
    } catch (error) {
      if (signal.aborted) return
      this.view.clear(seriesName(series))
      this.message.show((error as Error).message, { retry: () => void this.open(series, range) })
    }
  }

  /** Shows why there is nothing to show, and what there is instead. */
  refuse({ problem, choices }: Absence): void {
    this.begin()
    this.view.clear('No candles')
    this.message.show(problem, { choices })
  }

  /** Ends what is under way; returns the signal of what comes next. */
  private begin(): AbortSignal {
    this.opening.abort()
    this.opening = new AbortController()
    this.view.session = undefined
    this.view.chart.element.dataset.stale = ''
    this.message.hide()
    return this.opening.signal
  }

  /** Those that were shown last stay loaded. */
  private async openWindows(series: Series, signal: AbortSignal): Promise<SeriesWindows> {
    const name = seriesName(series)
    const windows = this.loaded.get(name) ?? (await SeriesWindows.open(series, this.activity, signal))
    for (const other of this.loaded.values()) if (other !== windows) other.hide()
    this.loaded.delete(name)
    this.loaded.set(name, windows)
    const [oldest] = this.loaded.keys()
    if (this.loaded.size > MAX_SERIES) this.loaded.delete(oldest)
    return windows
  }

  private async draw(session: Session, range: TimeRange | undefined): Promise<void> {
    const { view } = this
    session.signal.throwIfAborted()
    view.draw(session)
    if (!range) view.chart.showNewest()
    else if (!view.show(session, range))
      this.message.show('There are no candles in the time of this address; these are the nearest.')
    await nextFrame()
    session.isPlaced = true
  }

  private async showAbsence({ series, coverage }: SeriesWindows, signal: AbortSignal): Promise<void> {
    this.view.clear(seriesName(series))
    const { problem, choices } = describeAbsence(await readCoverage(signal), series, coverage.known)
    if (!signal.aborted) this.message.show(problem, { choices })
  }
}
