import { approximateLength } from '../../../klines/intervals.js'
import type { TimeRange } from '../../../klines/time-range.js'
import type { Activity } from './activity.js'
import { MAX_CANDLES } from './data/series-windows.js'
import type { Message } from './message.js'
import type { Session, SessionView } from './session-view.js'

/** A history with more candles is not loaded as a whole to show its start. */
const MAX_HISTORY = MAX_CANDLES / 2

/** Loads what people move to, and draws it. */
export class Loader {
  constructor(
    private readonly view: SessionView,
    private readonly message: Message,
    private readonly activity: Activity,
  ) {}

  /**
   * Loads more while less than another screen of candles is loaded on either side, as far as there is room; what is far from the
   * screen is dropped.
   */
  async fill(): Promise<void> {
    const { view } = this
    const { session, chart } = view
    if (!session?.isPlaced || session.isFilling || session.hasFailed) return
    session.isFilling = true
    const { windows, signal } = session
    await this.load(session, async () => {
      while (!signal.aborted) {
        const { from, to } = chart.visible ?? { from: 0, to: 0 }
        const room = Math.min(view.screen, (MAX_CANDLES - view.screen) / 2)
        if (room < 0) break
        const needsRight = session.timeline.length - to < room && !windows.isAtEnd
        const around = timeAround(session, from - room, to + room)
        const needsLeft = from < room && !windows.isAtStart
        if (needsLeft) await windows.extendBack(signal)
        // Under a finger or a held button, candles on the right would move those that are visible.
        else if (needsRight && !chart.isDragged) await windows.extendForward(signal)
        else break
        // On the other side than the new windows.
        const kept = needsLeft
          ? { ...around, fromTime: Number.NEGATIVE_INFINITY }
          : { ...around, toTime: Number.POSITIVE_INFINITY }
        if (!chart.isDragged) windows.trim(kept)
        view.draw(session, { continues: true })
        await nextFrame()
      }
    })
    session.isFilling = false
  }

  /** Jumps to a time, ms UTC, with as many candles as are visible. */
  async jump(fromTime: number): Promise<void> {
    const { view } = this
    const { screen } = view
    await this.move(async session => {
      const { windows, signal, series } = session
      const range = { fromTime, toTime: fromTime + screen * approximateLength(series.interval) }
      await windows.showRange(range, signal)
      view.draw(session)
      if (!view.show(session, range)) this.message.show('There are no candles then; these are the nearest.')
    })
  }

  /** Shows the first candles: of the whole history, unless that is too much for one chart. */
  async showFirst(): Promise<void> {
    const { view } = this
    const { screen } = view
    await this.move(async session => {
      const { windows, signal } = session
      if (windows.candlesBefore > MAX_HISTORY) await windows.showOldest(signal)
      while (!windows.isAtStart) {
        await windows.extendBack(signal)
        view.draw(session, { continues: true })
        await nextFrame()
      }
      view.draw(session)
      view.chart.showPlaces({ from: 0, to: screen })
    })
  }

  /** Shows the newest candles. */
  async showNewest(): Promise<void> {
    const { view } = this
    const { screen } = view
    await this.move(async session => {
      await session.windows.showNewest(session.signal)
      view.draw(session)
      view.chart.showNewest(screen)
    })
  }

  /** Loads and shows other candles of the series, and then what is around them. */
  private async move(work: (session: Session) => Promise<void>): Promise<void> {
    const { session } = this.view
    if (!session) return
    this.message.hide()
    await this.load(session, async () => {
      await work(session)
      await nextFrame()
    })
    await this.fill()
  }

  /** Runs a load; a failure is shown, and what is loaded stays. */
  private async load(session: Session, work: () => Promise<void>): Promise<void> {
    const { signal } = session
    try {
      await this.activity.during(() => session.queue(work))
    } catch (error) {
      if (signal.aborted) return
      session.hasFailed = true
      const retry = () => {
        session.hasFailed = false
        void this.load(session, work)
      }
      this.message.show((error as Error).message, { retry })
    }
  }
}

/** The time from one place of a session's timeline to another, ms UTC; places outside of it count as its ends. */
function timeAround({ timeline, windows }: Session, from: number, to: number): TimeRange {
  const length = approximateLength(windows.series.interval)
  const [first, last] = [0, timeline.length - 1].map(index => timeline.openTime(index))
  const fromTime = from < 0 ? first + from * length : timeline.openTime(Math.floor(from))
  const end = timeline.length - 1
  const toTime = to > end ? last + (to - end) * length : timeline.openTime(Math.ceil(to))
  return { fromTime, toTime }
}

/** Resolves in the next frame, when the chart has taken what it was told. */
export function nextFrame(): Promise<void> {
  return new Promise(resolve => requestAnimationFrame(() => resolve()))
}
