import { type CandleWindow, missingWindow, parseWindow } from './candle-window.js'
import { lengthMs } from './interval.js'
import {
  readSeriesCoverage,
  readStartDates,
  readText,
  type Series,
  type SeriesCoverage,
  ServiceError,
  windowPath,
} from './service.js'

const MAX_REQUESTS = 8
/** Windows of one batch, and about its candles: the chart takes all of its data again after each. */
const MAX_BATCH = 64
const MAX_BATCH_CANDLES = 44_000
/** Candles that stay loaded when others come: the chart and their texts take 100 MB or so. */
export const MAX_CANDLES = 100_000
/** The same for a series that is not shown. */
const MAX_HIDDEN_CANDLES = 10_000
/** A jump within this many windows keeps what is shown; a farther one starts anew at its time. */
const NEAR = 16

/**
 * The windows of one series. A consecutive range of them is shown; the others that are loaded wait until the range reaches
 * them. Those far from what is visible are dropped when there are too many, and loaded again when they are needed.
 */
export class SeriesWindows {
  private readonly startTimes: readonly number[]
  private readonly loaded: (CandleWindow | undefined)[] = []
  /** Indices of the first and the last shown window. */
  private first = 0
  private last = -1

  private constructor(
    readonly series: Series,
    readonly coverage: SeriesCoverage,
    private readonly startDates: readonly string[],
  ) {
    this.startTimes = startDates.map(date => Date.parse(date))
  }

  static async open(series: Series, signal: AbortSignal): Promise<SeriesWindows> {
    const [coverage, listed] = await Promise.all([
      readSeriesCoverage(series, signal),
      readStartDates(series.interval, signal),
    ])
    const { upstream, now, firstStartDate = '9', lastStartDate = '' } = coverage
    const exists = upstream
      ? (date: string) => Date.parse(date) <= now
      : (date: string) => date >= firstStartDate && date <= lastStartDate
    return new SeriesWindows(series, coverage, listed.filter(exists))
  }

  /** Whether there is a window to load. */
  get isEmpty(): boolean {
    return this.startDates.length === 0
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
    return this.last === this.startDates.length - 1
  }

  /** Whether any window was loaded before. */
  get isOpen(): boolean {
    return this.last >= 0
  }

  /** Shows the newest window with candles; returns at once when it is shown already. */
  async showNewest(signal: AbortSignal): Promise<void> {
    const newest = this.startDates.length - 1
    if (!this.isOpen || !this.isAtEnd) await this.show(newest, newest, signal)
    // Of a symbol that nobody knows, every window is missing.
    const isUnknown = !this.coverage.known && this.windows.every(({ text }) => text === undefined)
    while (!isUnknown && !this.hasCandles && !this.isAtStart) await this.extendBack(signal)
  }

  /** Shows the oldest window alone. */
  async showOldest(signal: AbortSignal): Promise<void> {
    await this.show(0, 0, signal)
  }

  /** Shows the windows of a time range, ms UTC: together with what is shown when that is near. */
  async showRange({ from, to }: { from: number; to: number }, signal: AbortSignal): Promise<void> {
    const [first, last] = [this.indexOf(from), this.indexOf(Math.max(from, to - 1))]
    const isNear = this.isOpen && first <= this.last + NEAR && last >= this.first - NEAR
    if (isNear) await this.show(Math.min(first, this.first), Math.max(last, this.last), signal)
    else await this.show(first, Math.min(last, first + this.maxBatch), signal)
  }

  /** Shows as many windows again as are shown, before them. */
  async extendBack(signal: AbortSignal): Promise<void> {
    await this.show(Math.max(0, this.first - this.batch), this.last, signal)
  }

  /** Shows as many windows again as are shown, after them. */
  async extendForward(signal: AbortSignal): Promise<void> {
    await this.show(this.first, Math.min(this.startDates.length - 1, this.last + this.batch), signal)
  }

  /**
   * Drops the windows that are farthest from a time, ms UTC, and outside of it, until few enough candles are loaded.
   */
  trim({ from, to }: { from: number; to: number }, maxCandles = MAX_CANDLES): void {
    const distance = ({ startTime, endTime }: CandleWindow) => Math.max(startTime - to, from - endTime)
    const isOutside = (index: number) => distance(this.loaded[index] as CandleWindow) >= 0
    const indices = [...this.loaded.keys()].filter(index => this.loaded[index])
    const farthest = indices
      .filter(isOutside)
      .sort((a, b) => distance(this.loaded[b] as CandleWindow) - distance(this.loaded[a] as CandleWindow))
    let candles = indices.reduce((sum, index) => sum + (this.loaded[index]?.candles.length ?? 0), 0)
    for (const index of farthest) {
      if (candles <= maxCandles) break
      candles -= this.loaded[index]?.candles.length ?? 0
      this.loaded[index] = undefined
    }
    while (this.first < this.last && !this.loaded[this.first]) this.first++
    while (this.last > this.first && !this.loaded[this.last]) this.last--
  }

  /** Drops most windows: another series is shown. */
  hide(): void {
    const { startTime = 0, endTime = 0 } = this.loaded[this.last] ?? {}
    if (this.isOpen) this.trim({ from: startTime + 1, to: endTime - 1 }, MAX_HIDDEN_CANDLES)
  }

  private get batch(): number {
    return Math.min(this.last - this.first + 1, this.maxBatch)
  }

  private get maxBatch(): number {
    const [first = 0, second = 0] = this.startTimes
    const candles = Math.max(1, (second - first) / lengthMs(this.series.interval))
    return Math.max(1, Math.min(MAX_BATCH, Math.floor(MAX_BATCH_CANDLES / candles)))
  }

  /** The window that contains `time`, or the nearest one. */
  private indexOf(time: number): number {
    const after = this.startTimes.findIndex(start => start > time)
    return after === -1 ? this.startTimes.length - 1 : Math.max(0, after - 1)
  }

  /** Loads what is not loaded of a range of windows, the newest first, and then shows them. */
  private async show(first: number, last: number, signal: AbortSignal): Promise<void> {
    const needed: number[] = []
    for (let index = last; index >= first; index--) if (!this.loaded[index]) needed.push(index)
    const work = needed.values()
    const load = async () => {
      for (const index of work) this.loaded[index] = await this.load(index, signal)
    }
    await Promise.all(Array.from({ length: Math.min(MAX_REQUESTS, needed.length) }, load))
    signal.throwIfAborted()
    ;[this.first, this.last] = [first, last]
  }

  private async load(index: number, signal: AbortSignal): Promise<CandleWindow> {
    const startTime = this.startTimes[index]
    const endTime = this.startTimes[index + 1] ?? Number.POSITIVE_INFINITY
    const startDate = this.startDates[index]
    const { upstream, missingStartDates } = this.coverage
    if (!upstream && missingStartDates.includes(startDate)) return missingWindow(startTime, endTime)
    try {
      return parseWindow(startTime, endTime, await readText(windowPath(this.series, startDate), signal))
    } catch (error) {
      if (error instanceof ServiceError && error.status === 404) return missingWindow(startTime, endTime)
      throw error
    }
  }

  /** About how many candles the windows before the shown ones have. */
  get candlesBefore(): number {
    return (this.startTimes[this.first] - this.startTimes[0]) / lengthMs(this.series.interval)
  }
}
