import { LRUCache } from 'lru-cache'
import pMap from 'p-map'
import { approximateLength, isMinutes } from '../../candles/intervals.js'
import { startDatesPath, windowPath } from '../../candles/paths.js'
import { type Series, windowOf } from '../../candles/series.js'
import type { TimeRange } from '../../candles/time-range.js'
import { consecutiveStartDates, parseDate, startDateAt } from '../../candles/windows.js'
import { readSeriesCoverage, readText, type SeriesCoverage, ServiceError } from './service.js'
import { type CandleWindow, parseWindow } from './timeline.js'

const MAX_REQUESTS = 8
/** Of one batch: the chart takes all of its data again after each. */
const MAX_BATCH_CANDLES = 44_000
/** Candles that are shown: the chart and their texts take 100 MB or so. */
export const MAX_CANDLES = 100_000

/** The windows that were read last: a switch back or another try reads none of them again. */
const recent = new LRUCache<string, CandleWindow>({
  maxSize: MAX_CANDLES + 10_000,
  sizeCalculation: ({ candles }) => candles.length + 1,
})

/** Reads a file of the server; undefined where it has none. `onFault`: hears of one that is corrupt, or cannot be made. */
async function readIfThere(path: string, signal: AbortSignal, onFault?: (fault: string) => unknown) {
  try {
    return await readText(path, signal)
  } catch (error) {
    if (!(error instanceof ServiceError) || (error.status !== 404 && error.status !== 409)) throw error
    if (error.status === 409 || error.message.includes('corrupt')) onFault?.(`${path}: ${error.message}`)
    return undefined
  }
}

/** The windows of one series, of which consecutive ones are shown. `signal` aborts when another series is. */
export class SeriesWindows {
  shown: CandleWindow[] = []
  /** What is wrong with a window, for people. */
  fault: string | undefined
  private first = 0
  private readonly startTimes: number[]
  private readonly missing: ReadonlySet<string>
  /** About how many candles a window has, and how many windows a batch has at most. */
  private readonly windowCandles: number
  private readonly maxBatch: number

  /** `startDates`: those of all windows that there may be, ascending. */
  private constructor(
    readonly series: Series,
    readonly coverage: SeriesCoverage,
    private readonly startDates: string[],
    readonly signal: AbortSignal,
  ) {
    this.startTimes = startDates.map(parseDate)
    this.missing = new Set(coverage.upstream ? [] : coverage.missingStartDates)
    const [first = 0, second = 0] = this.startTimes
    this.windowCandles = Math.max(1, (second - first) / approximateLength(series.interval))
    this.maxBatch = Math.max(1, Math.floor(MAX_BATCH_CANDLES / this.windowCandles))
  }

  static async open(series: Series, signal: AbortSignal): Promise<SeriesWindows> {
    const coverage = await readSeriesCoverage(series, signal)
    const { upstream, now, madeOf, firstOpenTime = 0, lastOpenTime = -1 } = coverage
    const first = upstream ? '' : startDateAt(series.interval, firstOpenTime)
    if (madeOf) return new SeriesWindows(series, coverage, [first], signal)
    // Not every tree has a list of minutes.
    const hasList = !isMinutes(series.interval) || upstream || lastOpenTime >= 0
    const list = hasList ? await readIfThere(startDatesPath(series.interval), signal) : undefined
    const dates = JSON.parse(list ?? '[]') as string[]
    const exists = (date: string) => date >= first && Date.parse(date) <= (upstream ? now : lastOpenTime)
    return new SeriesWindows(series, coverage, dates.filter(exists), signal)
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

  /** Reads the newest window again where it is shown, with those that have begun since, up to a time. */
  async goOn(time: number): Promise<void> {
    const newest = this.startDates.length - 1
    recent.delete(this.describe(newest).path)
    const { isAtEnd } = this
    this.startDates.push(...consecutiveStartDates(this.series.interval, this.startDates[newest], time).slice(1))
    this.startTimes.push(...this.startDates.slice(newest + 1).map(parseDate))
    if (isAtEnd) await this.show(this.first, this.startDates.length - 1, newest)
  }

  async showNewest(): Promise<void> {
    const newest = this.startDates.length - 1
    if (!this.isAtEnd) await this.show(newest, newest)
    // Of a symbol that nobody knows, every window is missing.
    const isUnknown = !this.coverage.known && this.shown.every(({ text }) => text === undefined)
    while (!isUnknown && !this.hasCandles && !this.isAtStart) await this.extend(-1)
  }

  /** Shows the first candles, with all up to the shown ones unless that is too much for one chart. */
  async showFirst(): Promise<void> {
    const isLong = this.first * this.windowCandles > MAX_CANDLES / 2
    await this.show(0, isLong ? 0 : this.last)
    // A service lists windows from before a symbol was traded.
    while (!this.hasCandles && !this.isAtEnd) await this.extend(1)
  }

  /** Shows the windows of a time range; without candles in them, those on both sides too, and else the newest ones. */
  async showRange({ fromTime, toTime }: TimeRange): Promise<void> {
    if (this.startDates.length === 0) return
    const indexOf = (time: number) => this.startTimes.findLastIndex(start => start <= time)
    const first = Math.max(0, indexOf(Number.isFinite(fromTime) ? fromTime : toTime - 1))
    const last = Math.max(0, indexOf(Number.isFinite(toTime) ? toTime - 1 : fromTime))
    await this.show(first, Math.min(last, first + this.maxBatch))
    // A service lists many windows from before a symbol was traded; a mirror has candles on both sides.
    const rounds = this.coverage.upstream ? 1 : Infinity
    for (let round = 0; round < rounds && !this.hasCandles && !(this.isAtStart && this.isAtEnd); round++) {
      await this.extend(-1)
      await this.extend(1)
    }
    if (!this.hasCandles) await this.showNewest()
  }

  /** Shows as many windows again as are shown: before them (-1), or after them (1). */
  async extend(direction: -1 | 1): Promise<void> {
    const batch = Math.max(1, Math.min(this.shown.length, this.maxBatch))
    if (direction < 0) await this.show(Math.max(0, this.first - batch), this.last)
    else await this.show(this.first, Math.min(this.last + batch, this.startDates.length - 1))
  }

  /** Drops windows that end before a time, or begin after one, as long as there are too many candles. */
  drop({ before = -Infinity, after = Infinity }): void {
    while (this.isTooLong && this.shown[0].endTime < before) {
      this.shown.shift()
      this.first++
    }
    while (this.isTooLong && this.shown[this.shown.length - 1].startTime > after) this.shown.pop()
  }

  private get isTooLong(): boolean {
    return this.shown.reduce((sum, { candles }) => sum + candles.length, 0) > MAX_CANDLES
  }

  /** Loads a range of windows, the newest first, and then shows them; those from `again` on are read again. */
  private async show(first: number, last: number, again = Infinity): Promise<void> {
    const windows = Array.from({ length: last - first + 1 }, (_, place) =>
      first + place < again ? this.loaded(first + place) : undefined,
    )
    const needed = [...windows.keys()].filter(place => !windows[place]).reverse()
    const load = async (place: number) => {
      const { path, span } = this.describe(first + place)
      const window = parseWindow(span, await readIfThere(path, this.signal, fault => (this.fault = fault)))
      windows[place] = window
      recent.set(path, window)
    }
    await pMap(needed, load, { concurrency: MAX_REQUESTS })
    this.signal.throwIfAborted()
    ;[this.first, this.shown] = [first, windows as CandleWindow[]]
  }

  private loaded(index: number): CandleWindow | undefined {
    const { path, span } = this.describe(index)
    if (this.missing.has(this.startDates[index])) return parseWindow(span, undefined)
    return this.shown[index - this.first] ?? recent.get(path)
  }

  /** The path of an export; a series that is made of another one is one window, the export of its newest candles. */
  exportPath(extension: string, query: string): string {
    const { symbol, interval } = this.series
    const { madeOf } = this.coverage
    const resample = madeOf ? `&resample=${interval}` : ''
    return `export/${madeOf ?? interval}/${encodeURIComponent(symbol)}.${extension}?${query}${resample}`
  }

  /** The path of a window, and its span; the last one has no end. */
  private describe(index: number) {
    const window = windowOf(this.series, this.startDates[index])
    const path = this.coverage.madeOf ? this.exportPath('json', `tail=${MAX_CANDLES}`) : windowPath(window)
    const endTime = this.startTimes[index + 1] ?? Infinity
    return { path, span: { startTime: this.startTimes[index], endTime } }
  }
}
