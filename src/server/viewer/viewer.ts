import { approximateLength } from '../../candles/intervals.js'
import { type Series, seriesName } from '../../candles/series.js'
import type { TimeRange } from '../../candles/time-range.js'
import { type Absence, describeAbsence } from './absence.js'
import { Messages } from './messages.js'
import { MAX_CANDLES, SeriesWindows } from './series-windows.js'
import { readCoverage } from './service.js'
import { Session, View } from './view.js'

/** Loads series and what people move to, and draws it. */
export class Viewer {
  readonly view = new View()
  readonly messages = new Messages(this.view.chart.element)
  private opening = new AbortController()

  /** `onMove`: called when other candles become visible. */
  constructor(onMove: () => void) {
    this.view.chart.onMove(() => {
      onMove()
      void this.fill()
    })
  }

  /** Ends what is under way, and runs what shows something else. A failure is shown, with a button that runs it again. */
  async start(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    performance.mark('klines:series-requested')
    this.opening.abort()
    this.opening = new AbortController()
    const { signal } = this.opening
    this.view.leave()
    this.messages.name = 'candles'
    this.messages.hide()
    try {
      await this.messages.during(() => work(signal))
    } catch (error) {
      if (signal.aborted) return
      this.view.clear(this.messages.name)
      this.messages.show((error as Error).message, { retry: () => void this.start(work) })
    }
  }

  /** Shows a series: its newest candles, or those of a range. Throws what loading throws. */
  async open(series: Series, range: TimeRange | undefined, signal: AbortSignal): Promise<void> {
    this.messages.name = seriesName(series)
    const windows = await SeriesWindows.open(series, this.messages, signal)
    if (!windows.isEmpty) await (range ? windows.showRange(range, signal) : windows.showNewest(signal))
    if (!windows.hasCandles) {
      const coverage = await readCoverage(signal)
      return this.refuse(describeAbsence(coverage, series, windows.coverage.known), seriesName(series))
    }
    const { view } = this
    const session = new Session(windows, signal)
    view.draw(session)
    if (!range) view.chart.showNewest()
    else if (!view.show(range))
      this.messages.show('There are no candles in the time of this address; these are the nearest.')
    await nextFrame()
    signal.throwIfAborted()
    session.isHeld = false
    performance.mark('klines:series-drawn')
    performance.measure('klines:series', 'klines:series-requested', 'klines:series-drawn')
    await this.fill()
  }

  /** Shows why there is nothing to show, and what there is instead. */
  refuse({ problem, choices }: Absence, name = 'No candles'): void {
    this.view.clear(name)
    this.messages.show(problem, { choices })
  }

  /**
   * Loads more while less than another screen of candles is loaded on either side, as far as there is room; what is far from the
   * screen is dropped.
   */
  private async fill(): Promise<void> {
    const { view } = this
    const { session, chart } = view
    if (!session || session.isHeld) return
    session.isHeld = true
    await this.load(async ({ windows, signal }) => {
      for (let { timeline } = view; timeline && !signal.aborted; { timeline } = view) {
        const room = Math.min(view.screen, (MAX_CANDLES - view.screen) / 2)
        const { from, to } = chart.visible ?? { from: 0, to: 0 }
        const [first, last] = [Math.floor(from - room), Math.ceil(to + room)]
        if (room < 0) break
        if (first < 0 && !windows.isAtStart) {
          await windows.extendBack(signal)
          if (!chart.isDragged) windows.dropAfter(timeline.timeAt(last))
          // Under a finger or a held button, candles on the right would move those that are visible.
        } else if (last > timeline.length && !windows.isAtEnd && !chart.isDragged) {
          await windows.extendForward(signal)
          windows.dropBefore(timeline.timeAt(first))
        } else break
        view.draw(session, { continues: true })
        await nextFrame()
      }
      session.isHeld = false
    })
  }

  /** Jumps to a time, ms UTC, with as many candles as are visible. */
  async jump(fromTime: number): Promise<void> {
    const { view } = this
    const { screen } = view
    const rangeOf = ({ series }: SeriesWindows) => {
      return { fromTime, toTime: fromTime + screen * approximateLength(series.interval) }
    }
    await this.move(
      (windows, signal) => windows.showRange(rangeOf(windows), signal),
      windows => {
        if (!view.show(rangeOf(windows))) this.messages.show('There are no candles then; these are the nearest.')
      },
    )
  }

  /** Shows the first candles. */
  async showFirst(): Promise<void> {
    const { chart, screen } = this.view
    await this.move(
      (windows, signal) => windows.showFirst(signal),
      () => chart.showPlaces({ from: 0, to: screen }),
    )
  }

  /** Shows the newest candles. */
  async showNewest(): Promise<void> {
    const { chart, screen } = this.view
    await this.move(
      (windows, signal) => windows.showNewest(signal),
      () => chart.showNewest(screen),
    )
  }

  /** Loads other candles of the series, places them on the screen, and loads what is around them. */
  private async move(
    load: (windows: SeriesWindows, signal: AbortSignal) => Promise<void>,
    place: (windows: SeriesWindows) => void,
  ): Promise<void> {
    this.messages.hide()
    await this.load(async session => {
      await load(session.windows, session.signal)
      this.view.draw(session)
      place(session.windows)
      await nextFrame()
    })
    await this.fill()
  }

  /** Runs a load; a failure is shown, and what is loaded stays. */
  private async load(work: (session: Session) => Promise<void>): Promise<void> {
    const { session } = this.view
    if (!session) return
    const { signal } = session
    const done = session.turn.then(() => work(session))
    session.turn = done.catch(() => {})
    try {
      await this.messages.during(() => done)
    } catch (error) {
      if (signal.aborted) return
      session.isHeld = true
      const retry = () => {
        session.isHeld = false
        void this.load(work)
      }
      this.messages.show((error as Error).message, { retry })
    }
  }
}

/** Resolves in the next frame, when the chart has taken what it was told. */
function nextFrame(): Promise<void> {
  return new Promise(resolve => requestAnimationFrame(() => resolve()))
}
