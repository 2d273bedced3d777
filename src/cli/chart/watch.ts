import type { FittedCandles } from '../../chart/chart-candle.js'
import { FetchError } from '../../http/fetch-error.js'
import type { Clock } from '../../http/system-clock.js'
import { isKlinesError } from '../../klines/errors.js'
import { MINUTE_MS } from '../../klines/intervals.js'
import { throwNoMemory } from '../../klines/no-memory.js'
import { slotAfter, toTarget } from '../../klines/resample/target-interval.js'
import { type Series, seriesName } from '../../klines/series.js'
import { type ChartRoom, type LoadedCharts, loadToFit } from './load-charts.js'

/** A timer may stop while a machine sleeps, so no wait is longer, ms. */
const MAX_SLEEP_MS = MINUTE_MS

/** What a watch needs. */
interface WatchOptions {
  readonly clock: Clock
  /** Ends the watch: `run` then throws its reason. */
  readonly signal: AbortSignal
  /** Loads the charts anew, with a connection of their own. */
  readonly load: () => Promise<LoadedCharts>
  /** The present room for candles. */
  readonly room: () => ChartRoom
  /** Shows charts, and a line on what was checked when. */
  readonly draw: (charts: readonly FittedCandles[], status: string) => void
}

/** Redraws charts when new candles exist: one request for each closed candle, and fewer when the service is late. */
export class ChartWatch {
  private readonly times: ReadonlyMap<string, CheckTimes>
  private status: string
  /** Wakes the watch up for a redraw. */
  private wake = new AbortController()

  constructor(
    private loaded: LoadedCharts,
    private readonly options: WatchOptions,
  ) {
    this.status = loaded.failure === undefined ? 'downloaded' : 'the service could not be reached'
    this.times = this.findTimes(options.clock.now())
  }

  /** To be called when the size of the terminal has changed. */
  readonly resize = (): void => this.wake.abort()

  /** Watches until the signal. */
  async run(): Promise<never> {
    let checked = this.options.clock.now()
    for (;;) {
      if (this.wake.signal.aborted) {
        this.wake = new AbortController()
        await this.attempt(() => this.reload())
      }
      this.draw(checked)
      if (await this.sleepUntilDue()) {
        await this.check()
        checked = this.options.clock.now()
      }
    }
  }

  close(): Promise<void> {
    return this.loaded.loader.close()
  }

  private get due(): number {
    return Math.min(...[...this.times.values()].map(({ due }) => due))
  }

  private draw(checked: number): void {
    const clockText = (time: number) => new Date(time).toISOString().slice(11, 19)
    const next = new Date(this.due).toISOString()
    // A check on another day says which.
    const isToday = next.slice(0, 10) === new Date(checked).toISOString().slice(0, 10)
    const nextText = isToday ? clockText(this.due) : next.slice(0, 16).replace('T', ' ')
    this.options.draw(
      this.loaded.charts,
      `${clockText(checked)} UTC: ${this.status}; next check ${nextText}. Ctrl-C ends.`,
    )
  }

  /** Returns whether a check is due; false when the watch was woken up. Throws the reason of the signal. */
  private async sleepUntilDue(): Promise<boolean> {
    const { clock, signal } = this.options
    for (;;) {
      const wait = this.due - clock.now()
      if (wait <= 0) return true
      try {
        await clock.sleep(Math.min(wait, MAX_SLEEP_MS), AbortSignal.any([signal, this.wake.signal]))
      } catch {
        signal.throwIfAborted()
        return false
      }
    }
  }

  /** Checks each series that is due, with one request. After a failure, the next check starts anew. */
  private async check(): Promise<void> {
    const now = this.options.clock.now()
    const before = this.newest
    await this.attempt(() => (this.loaded.failure === undefined ? this.checkDue(now) : this.reconnect()))
    if (this.loaded.failure !== undefined) this.status = 'the service could not be reached'
    else this.status = this.newest > before ? 'new candle' : 'no new candle yet'
    this.noteTimes(now)
  }

  private async checkDue(now: number): Promise<void> {
    let isNew = false
    for (const { series, openTime, due } of this.times.values()) {
      if (due <= now && (await this.loaded.loader.hasNewer(series, openTime, now))) isNew = true
    }
    if (isNew) await this.reload()
  }

  private async reconnect(): Promise<void> {
    const { loader } = this.loaded
    this.loaded = await this.options.load()
    await loader.close()
  }

  /** Reads the candles again: more of them for a wider terminal, and what a check has downloaded. */
  private async reload(): Promise<void> {
    this.loaded = { ...this.loaded, charts: await loadToFit(this.loaded.loader, this.options.room()) }
  }

  /** After a failure of the service or of the mirror, the charts stay as they are. */
  private async attempt(action: () => Promise<void>): Promise<void> {
    try {
      await action()
    } catch (error) {
      this.options.signal.throwIfAborted()
      throwNoMemory(error)
      if (!(error instanceof FetchError) && !isKlinesError(error)) throw error
      this.loaded = { ...this.loaded, failure: error.message }
    }
  }

  /** Open time of the newest candle of all charts, ms UTC. */
  private get newest(): number {
    return Math.max(...this.loaded.charts.map(({ lastTime = 0 }) => lastTime))
  }

  private findTimes(now: number): Map<string, CheckTimes> {
    return new Map(
      this.loaded.charts.map(({ series, lastTime = 0 }) => [seriesName(series), new CheckTimes(series, lastTime, now)]),
    )
  }

  private noteTimes(now: number): void {
    for (const { series, lastTime = 0 } of this.loaded.charts) {
      const times = this.times.get(seriesName(series))
      if (times && (times.due <= now || lastTime > times.openTime)) times.note(now, lastTime)
    }
  }
}

/** How long after its end a candle may be expected, ms: the exchange's are stored 15 s after it. */
const AFTER_CLOSE_MS = 20_000
/** Between two checks for a candle that is late: from one minute, doubled each time, up to an hour. */
const [MIN_WAIT_MS, MAX_WAIT_MS] = [MINUTE_MS, 60 * MINUTE_MS]

/** When a service is checked for a new candle of a series: once when it should be there, then less and less often. */
class CheckTimes {
  private checked: number
  private misses = 0

  /** `openTime`: that of the newest candle; `now`: when it was downloaded; both ms UTC. */
  constructor(
    readonly series: Series,
    public openTime: number,
    now: number,
  ) {
    this.checked = now
  }

  /** When the next check is due, ms UTC. */
  get due(): number {
    const closed = slotAfter(toTarget(this.series.interval), this.openTime, 2) + AFTER_CLOSE_MS
    if (closed > this.checked) return closed
    return this.checked + Math.min(MAX_WAIT_MS, MIN_WAIT_MS * 2 ** Math.max(0, this.misses - 1))
  }

  /** Notes a check at `now`, ms UTC, and the open time of the newest candle since then. */
  note(now: number, openTime: number): void {
    this.misses = openTime > this.openTime ? 0 : this.misses + 1
    this.checked = now
    this.openTime = openTime
  }
}
