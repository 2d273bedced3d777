import { isMinutes, stepsBetween } from '../../../../klines/intervals.js'
import { windowPath } from '../../../../klines/paths.js'
import { type Series, windowOf } from '../../../../klines/series.js'
import type { TimeRange } from '../../../../klines/time-range.js'
import { type CandleWindow, missingWindow, parseWindow } from './candle-window.js'
import { readSeriesCoverage, readStartDates, readText, type SeriesCoverage, ServiceError } from './service.js'
import { WindowList } from './window-list.js'

const MAX_REQUESTS = 8
/** Windows of one batch, and about its candles: the chart takes all of its data again after each. */
const MAX_BATCH = 64
const MAX_BATCH_CANDLES = 44_000
/** Places of candles that stay loaded when others come: the chart and their texts take 100 MB or so. */
export const MAX_CANDLES = 100_000
/** The same for a series that is not shown. */
const MAX_HIDDEN_CANDLES = 10_000
/** A jump within this many windows keeps what is shown; a farther one starts anew at its time. */
const NEAR = 16

function hasWindows({ upstream, lastStartDate }: SeriesCoverage): boolean {
  return upstream || lastStartDate !== undefined
}

function emptyIfMissing(error: unknown): string[] {
  if (error instanceof ServiceError && error.status === 404) return []
  throw error
}

/** Receives how far loading is. */
export interface LoadProgress {
  /** So many windows will be requested. */
  add(windows: number): void
  /** One of them has come. */
  addLoaded(): void
}

/**
 * The windows of one series. A consecutive range of them is shown; the others that are loaded wait until the range reaches
 * them. Those far from what is visible are dropped when there are too many, and loaded again when they are needed.
 */
export class SeriesWindows {
  private readonly loaded: (CandleWindow | undefined)[] = []
  /** Indices of the first and the last shown window. */
  private first = 0
  private last = -1

  private constructor(
    readonly series: Series,
    readonly coverage: SeriesCoverage,
    private readonly list: WindowList,
    private readonly progress: LoadProgress,
  ) {}

  static async open(series: Series, progress: LoadProgress, signal: AbortSignal): Promise<SeriesWindows> {
    const asked = readSeriesCoverage(series, signal)
    // Not every tree has a list of minutes.
    const hasList = !isMinutes(series.interval) || hasWindows(await asked)
    const [coverage, listed] = await Promise.all([
      asked,
      hasList ? readStartDates(series.interval, signal).catch(emptyIfMissing) : [],
    ])
    const { upstream, now, firstStartDate = '9', lastStartDate = '' } = coverage
    const exists = upstream
      ? (date: string) => Date.parse(date) <= now
      : (date: string) => date >= firstStartDate && date <= lastStartDate
    return new SeriesWindows(series, coverage, new WindowList(series, coverage, listed.filter(exists)), progress)
  }

  /** Whether there is a window to load. */
  get isEmpty(): boolean {
    return this.list.length === 0
  }

  /** The shown windows, ascending. */
  get windows(): readonly CandleWindow[] {
    return this.loaded.slice(this.first, this.last + 1) as CandleWindow[]
  }

  get hasCandles(): boolean {
    return this.windows.some(({ candles }) => candles.length > 0)
  }

  get isAtStart(): boolean {
    return this.first === 0
  }

  get isAtEnd(): boolean {
    return this.last === this.list.length - 1
  }

  /** Whether any window was loaded before. */
  get isOpen(): boolean {
    return this.last >= 0
  }

  /** Shows the newest window with candles; returns at once when it is shown already. */
  async showNewest(signal: AbortSignal): Promise<void> {
    const newest = this.list.length - 1
    if (!this.isOpen || !this.isAtEnd) await this.show(newest, newest, signal)
    // Of a symbol that nobody knows, every window is missing.
    const isUnknown = !this.coverage.known && this.windows.every(({ text }) => text === undefined)
    while (!isUnknown && !this.hasCandles && !this.isAtStart) await this.extendBack(signal)
  }

  /** Shows the oldest windows, up to the first candles: a service lists windows from before a symbol was traded. */
  async showOldest(signal: AbortSignal): Promise<void> {
    await this.show(0, 0, signal)
    while (!this.hasCandles && !this.isAtEnd) await this.extendForward(signal)
  }

  /**
   * Shows the windows of a time range, of one with an open end the window at the other end: together with what is shown when that is
   * near. When they have no candles, the windows on both sides too, and else the newest ones.
   */
  async showRange({ fromTime, toTime }: TimeRange, signal: AbortSignal): Promise<void> {
    const first = this.list.indexOf(Number.isFinite(fromTime) ? fromTime : toTime - 1)
    const last = this.list.indexOf(Number.isFinite(toTime) ? toTime - 1 : fromTime)
    const isNear = this.isOpen && first <= this.last + NEAR && last >= this.first - NEAR
    if (isNear) await this.show(Math.min(first, this.first), Math.max(last, this.last), signal)
    else await this.show(first, Math.min(last, this.list.indexAway(first, this.maxBatch)), signal)
    if (!this.hasCandles)
      await this.show(this.list.indexAway(this.first, -1), this.list.indexAway(this.last, 1), signal)
    if (!this.hasCandles) await this.showNewest(signal)
  }

  /** Shows as many windows again as are shown, before them. */
  async extendBack(signal: AbortSignal): Promise<void> {
    await this.show(this.list.indexAway(this.first, -this.batch), this.last, signal)
  }

  /** Shows as many windows again as are shown, after them. */
  async extendForward(signal: AbortSignal): Promise<void> {
    await this.show(this.first, this.list.indexAway(this.last, this.batch), signal)
  }

  /**
   * Drops the windows that are farthest from a range, and outside of it, until those that are loaded have few enough places
   * on the time axis.
   */
  trim({ fromTime, toTime }: TimeRange, maxPlaces = MAX_CANDLES): void {
    const distance = ({ startTime, endTime }: CandleWindow) => Math.max(startTime - toTime, fromTime - endTime)
    const loaded = [...this.loaded.entries()].flatMap(([index, window]) =>
      window ? [{ index, places: this.placesOf(window), distance: distance(window) }] : [],
    )
    const farthest = loaded.filter(window => window.distance >= 0).sort((a, b) => b.distance - a.distance)
    let total = loaded.reduce((sum, { places }) => sum + places, 0)
    for (const { index, places } of farthest) {
      if (total <= maxPlaces) break
      total -= places
      this.loaded[index] = undefined
    }
    while (this.first < this.last && !this.loaded[this.first]) this.first++
    while (this.last > this.first && !this.loaded[this.last]) this.last--
  }

  /** At most how many places a loaded window takes: also those of candles that it lacks, unless it has none. */
  private placesOf({ startTime, endTime, candles }: CandleWindow): number {
    if (candles.length === 0) return 0
    const steps = Number.isFinite(endTime) ? stepsBetween(this.series.interval, startTime, endTime) : 0
    return Math.max(candles.length, steps)
  }

  /** Drops most windows: another series is shown. */
  hide(): void {
    const { startTime = 0, endTime = 0 } = this.loaded[this.last] ?? {}
    if (this.isOpen) this.trim({ fromTime: startTime + 1, toTime: endTime - 1 }, MAX_HIDDEN_CANDLES)
  }

  private get batch(): number {
    return Math.max(1, Math.min(this.list.count(this.first, this.last + 1), this.maxBatch))
  }

  private get maxBatch(): number {
    return Math.max(1, Math.min(MAX_BATCH, Math.floor(MAX_BATCH_CANDLES / this.list.windowCandles)))
  }

  /** Loads what is not loaded of a range of windows, the newest first, and then shows them. */
  private async show(first: number, last: number, signal: AbortSignal): Promise<void> {
    const needed: number[] = []
    for (let index = last; index >= first; index--) if (!this.loaded[index]) needed.push(index)
    const isRequested = (index: number) => !this.list.isMissing(index)
    this.progress.add(needed.filter(isRequested).length)
    const work = needed.values()
    const load = async () => {
      for (const index of work) {
        this.loaded[index] = await this.load(index, signal)
        if (isRequested(index)) this.progress.addLoaded()
      }
    }
    await Promise.all(Array.from({ length: Math.min(MAX_REQUESTS, needed.length) }, load))
    signal.throwIfAborted()
    ;[this.first, this.last] = [first, last]
  }

  private async load(index: number, signal: AbortSignal): Promise<CandleWindow> {
    const { startTime, endTime } = this.list.time(index)
    if (this.list.isMissing(index)) return missingWindow(startTime, endTime)
    const path = `/${windowPath(windowOf(this.series, this.list.startDate(index)))}`
    try {
      return parseWindow(startTime, endTime, await readText(path, signal))
    } catch (error) {
      if (error instanceof ServiceError && error.status === 404) return missingWindow(startTime, endTime)
      throw error
    }
  }

  /** About how many candles the windows before the shown ones have. */
  get candlesBefore(): number {
    return this.list.count(0, this.first) * this.list.windowCandles
  }
}
