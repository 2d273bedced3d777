import { LRUCache } from 'lru-cache'
import { approximateLength, isMinutes } from '../../candles/intervals.js'
import { startDatesPath, windowPath } from '../../candles/paths.js'
import { type Series, windowOf } from '../../candles/series.js'
import type { TimeRange } from '../../candles/time-range.js'
import { parseDate } from '../../candles/windows.js'
import type { Messages } from './messages.js'
import { readSeriesCoverage, readText, type SeriesCoverage, ServiceError } from './service.js'
import { type CandleWindow, parseWindow } from './timeline.js'

const MAX_REQUESTS = 8
/** Windows of one batch, and about its candles: the chart takes all of its data again after each. */
const MAX_BATCH = 64
const MAX_BATCH_CANDLES = 44_000
/** Places of candles that are shown when others come: the chart and their texts take 100 MB or so. */
export const MAX_CANDLES = 100_000

/** The windows of any series that were read last: a switch back or another try reads none of them again. */
const recent = new LRUCache<string, CandleWindow>({
  maxSize: MAX_CANDLES + 10_000,
  sizeCalculation: ({ candles }) => candles.length + 1,
})

/** Reads a file of the server; undefined where it has none. */
async function readIfThere(path: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await readText(`/${path}`, signal)
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined
    throw error
  }
}

/** The windows of one series, of which consecutive ones are shown. */
export class SeriesWindows {
  shown: CandleWindow[] = []
  private first = 0
  private readonly startTimes: readonly number[]
  /** Windows that are known not to be in the mirror, so that they need not be requested. */
  private readonly missing: ReadonlySet<string>
  /** About how many candles a window has, and how many windows a batch has at most. */
  private readonly windowCandles: number
  private readonly maxBatch: number

  /** `startDates`: those of all windows that there may be, ascending. */
  private constructor(
    readonly series: Series,
    readonly coverage: SeriesCoverage,
    private readonly startDates: readonly string[],
    private readonly progress: Messages,
  ) {
    this.startTimes = startDates.map(parseDate)
    this.missing = new Set(coverage.upstream ? [] : coverage.missingStartDates)
    const [first = 0, second = 0] = this.startTimes
    this.windowCandles = Math.max(1, (second - first) / approximateLength(series.interval))
    this.maxBatch = Math.max(1, Math.min(MAX_BATCH, Math.floor(MAX_BATCH_CANDLES / this.windowCandles)))
  }

  static async open(series: Series, progress: Messages, signal: AbortSignal): Promise<SeriesWindows> {
    const coverage = await readSeriesCoverage(series, signal)
    const { upstream, now, firstStartDate = '9', lastStartDate = '' } = coverage
    // Not every tree has a list of minutes.
    const hasList = !isMinutes(series.interval) || upstream || lastStartDate !== ''
    const list = hasList ? await readIfThere(startDatesPath(series.interval), signal) : undefined
    const dates = JSON.parse(list ?? '[]') as string[]
    const exists = (date: string) =>
      upstream ? Date.parse(date) <= now : date >= firstStartDate && date <= lastStartDate
    return new SeriesWindows(series, coverage, dates.filter(exists), progress)
  }

  get hasCandles(): boolean {
    return this.shown.some(({ candles }) => candles.length > 0)
  }

  get isAtStart(): boolean {
    return this.first === 0
  }

  get isAtEnd(): boolean {
    return this.last === this.startDates.length - 1
  }

  private get last(): number {
    return this.first + this.shown.length - 1
  }

  /** Shows the newest window with candles; returns at once when it is shown already. */
  async showNewest(signal: AbortSignal): Promise<void> {
    const newest = this.startDates.length - 1
    if (!this.isAtEnd) await this.show(newest, newest, signal)
    // Of a symbol that nobody knows, every window is missing.
    const isUnknown = !this.coverage.known && this.shown.every(({ text }) => text === undefined)
    while (!isUnknown && !this.hasCandles && !this.isAtStart) await this.extend(-1, signal)
  }

  /** Shows the first candles, with all up to the shown ones unless that is too much for one chart. */
  async showFirst(signal: AbortSignal): Promise<void> {
    const isLong = this.count(0, this.first) * this.windowCandles > MAX_CANDLES / 2
    await this.show(0, isLong ? 0 : this.last, signal)
    // A service lists windows from before a symbol was traded.
    while (!this.hasCandles && !this.isAtEnd) await this.extend(1, signal)
  }

  /**
   * Shows the windows of a time range, of one with an open end the window at the other end. When they have no candles, the windows on both
   * sides too, and else the newest ones.
   */
  async showRange({ fromTime, toTime }: TimeRange, signal: AbortSignal): Promise<void> {
    if (this.startDates.length === 0) return
    const indexOf = (time: number) => this.startTimes.findLastIndex(start => start <= time)
    const first = Math.max(0, indexOf(Number.isFinite(fromTime) ? fromTime : toTime - 1))
    const last = Math.max(0, indexOf(Number.isFinite(toTime) ? toTime - 1 : fromTime))
    await this.show(first, Math.min(last, this.indexAway(first, this.maxBatch)), signal)
    if (!this.hasCandles) await this.show(this.indexAway(this.first, -1), this.indexAway(this.last, 1), signal)
    if (!this.hasCandles) await this.showNewest(signal)
  }

  /** Shows as many windows again as are shown: before them (-1), or after them (1). */
  async extend(direction: -1 | 1, signal: AbortSignal): Promise<void> {
    const batch = Math.max(1, Math.min(this.count(this.first, this.last + 1), this.maxBatch))
    if (direction < 0) await this.show(this.indexAway(this.first, -batch), this.last, signal)
    else await this.show(this.first, this.indexAway(this.last, batch), signal)
  }

  /** Drops windows that end before a time, or begin after one, ms UTC, as long as there are too many candles. */
  drop({ before = Number.NEGATIVE_INFINITY, after = Number.POSITIVE_INFINITY }): void {
    while (this.isTooLong && this.shown[0].endTime < before) {
      this.shown.shift()
      this.first++
    }
    while (this.isTooLong && this.shown[this.shown.length - 1].startTime > after) this.shown.pop()
  }

  /** A window takes the places of candles that it lacks, too, unless it has none. */
  private get isTooLong(): boolean {
    const places = this.shown.map(({ candles }) => candles.length && Math.max(candles.length, this.windowCandles))
    return places.reduce((sum, one) => sum + one, 0) > MAX_CANDLES
  }

  /** How many windows from `first` to before `end` are not missing. */
  private count(first: number, end: number): number {
    return this.startDates.slice(first, end).filter(date => !this.missing.has(date)).length
  }

  /** The window that is `distance` windows away, negative to the past. Missing ones do not count. */
  private indexAway(index: number, distance: number): number {
    const step = Math.sign(distance)
    const end = step < 0 ? 0 : this.startDates.length - 1
    let away = index
    for (let left = Math.abs(distance); left > 0 && away !== end; ) {
      away += step
      if (!this.missing.has(this.startDates[away])) left--
    }
    return away
  }

  /** Loads what is not loaded of a range of windows, the newest first, and then shows them. */
  private async show(first: number, last: number, signal: AbortSignal): Promise<void> {
    const windows = Array.from({ length: last - first + 1 }, (_, place) => this.loaded(first + place))
    const needed = [...windows.keys()].filter(place => !windows[place]).reverse()
    this.progress.count({ total: needed.length })
    const work = needed.values()
    const load = async () => {
      for (const place of work) {
        const { path, span } = this.describe(first + place)
        const window = parseWindow(span, await readIfThere(path, signal))
        windows[place] = window
        recent.set(path, window)
        this.progress.count({ done: 1 })
      }
    }
    await Promise.all(Array.from({ length: MAX_REQUESTS }, load))
    signal.throwIfAborted()
    ;[this.first, this.shown] = [first, windows as CandleWindow[]]
  }

  private loaded(index: number): CandleWindow | undefined {
    const { path, span } = this.describe(index)
    if (this.missing.has(this.startDates[index])) return parseWindow(span, undefined)
    return this.shown[index - this.first] ?? recent.get(path)
  }

  /** The path of a window, and its span; the last one has no end. */
  private describe(index: number) {
    const path = windowPath(windowOf(this.series, this.startDates[index]))
    const endTime = this.startTimes[index + 1] ?? Number.POSITIVE_INFINITY
    return { path, span: { startTime: this.startTimes[index], endTime } }
  }
}
