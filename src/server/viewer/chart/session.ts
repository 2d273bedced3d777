import type { SeriesWindows } from './data/series-windows.js'
import { Timeline } from './data/timeline.js'

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
