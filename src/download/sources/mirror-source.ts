import { isExchange, type LocalEndpoint, toSourceName } from '../../http/base-url.js'
import { decodeWindow } from '../../klines/batch/window-codec.js'
import { KlinesError } from '../../klines/errors.js'
import { EXCHANGE_INTERVALS, type Interval, isMinutes } from '../../klines/intervals.js'
import { findMissingStartDates } from '../../klines/lists.js'
import { windowPath } from '../../klines/paths.js'
import { type Series, seriesName, type WindowRef } from '../../klines/series.js'
import { isSymbolPattern, type SymbolName, sortSymbols, unknownSymbols } from '../../klines/symbols.js'
import type { TimeRange } from '../../klines/time-range.js'
import { formatDate, parseDate } from '../../klines/windows.js'
import type { Mirror } from '../../mirror/mirror.js'
import { type BorrowedWindow, EMPTY_WINDOW_BYTES, type NoWindow } from '../../mirror/mirror-windows.js'
import { cachedStartDateList } from '../cached-start-dates.js'
import { noMinutes, withoutStop } from '../errors.js'
import { planWindows } from '../plan.js'
import type { RequestCost } from '../request-cost.js'
import { combine, namesSymbols, type Selection, selectedIntervals, selectSymbols } from '../selection.js'
import type { Warn, WindowFailure, WindowResult, WindowSource } from './window-source.js'

/** A window that a complete mirror does not have. */
const EMPTY_WINDOW = new TextEncoder().encode('[]')

/** What a `MirrorSource` is told. */
export interface MirrorSourceOptions {
  /** The base address that the mirror should have; default: any. */
  readonly baseUrl?: string | LocalEndpoint | undefined
  /** Take a list with a hole as it is. */
  readonly acceptList?: boolean | undefined
  /** The present, ms UTC. */
  readonly now: number
  readonly warn: Warn
}

/** Windows from a mirror alone, without any request. */
export class MirrorSource implements WindowSource {
  baseUrl: string | undefined
  readonly offline = true
  readonly isStored = true
  readonly advice = 'Download them with klines download, or choose a range that the mirror has with `from` and `to`.'

  readonly traffic = { requests: 0, bytes: 0 }
  readonly mirrorRoot: string
  /** Whether a window of a series is empty when it has no file, by the name of the series. */
  private readonly covered = new Map<string, boolean>()

  private readonly acceptList: boolean
  readonly now: number
  readonly warn: Warn

  /** Throws `mirror_mismatch` when the mirror belongs to another base address. */
  constructor(
    protected readonly mirror: Mirror,
    { baseUrl, acceptList = false, now, warn }: MirrorSourceOptions,
  ) {
    if (baseUrl !== undefined) mirror.upkeep.checkBase(toSourceName(baseUrl))
    this.acceptList = acceptList
    this.now = now
    this.warn = warn
    this.mirrorRoot = mirror.root
    this.baseUrl = mirror.upkeep.readMeta(warn)?.baseUrl
  }

  /** Throws `window_missing` when there is no mirror. */
  prepare(): void {
    if (!this.mirror.files.exists) throw nothingCached(`There is no mirror at ${this.mirror.root}.`, this.mirror)
  }

  async present(): Promise<number> {
    return this.now
  }

  /**
   * `all` and a pattern are every series that the mirror has or has had, those of 1m, 3m and 5m too; a named series need not be there.
   * Throws `unknown_interval` for one of these that the mirror's source does not have.
   */
  async series(selection: Selection): Promise<Series[]> {
    const { symbols, intervals } = selection
    const intervalsOf = selectedIntervals(selection, EXCHANGE_INTERVALS)
    this.checkMinutes(intervalsOf.filter(interval => intervals !== 'all' && isMinutes(interval)))
    if (namesSymbols(selection)) this.checkNames(selectSymbols(selection, []))
    if (namesSymbols(selection) && intervals !== 'all') return combine(selectSymbols(selection, []), intervalsOf)
    this.prepare()
    const isNamed = ({ symbol }: Series) => intervals !== 'all' && symbols !== 'all' && symbols.includes(symbol)
    // Throws for a pattern that matches nothing in the mirror.
    const symbolsHad = sortSymbols([...this.mirror.contents.symbols(), ...this.mirror.record.symbols])
    const selected = combine(selectSymbols(selection, symbolsHad), intervalsOf)
    const cached = selected.filter(series => isNamed(series) || this.mirror.contents.hadSeries(series))
    if (cached.length === 0)
      throw nothingCached(`The mirror ${this.mirror.root} has none of these series.`, this.mirror)
    this.warnOfOthers(selection, new Set(cached.map(({ symbol }) => symbol)))
    return cached
  }

  /** Throws `unknown_interval` for one that neither the source nor the mirror has. */
  private checkMinutes(named: readonly Interval[]): void {
    const known = named.length > 0 && this.mirror.files.exists ? this.mirror.contents.intervals() : named
    const unknown = named.find(interval => !known.includes(interval))
    if (unknown) throw noMinutes(unknown, 'The mirror')
  }

  /** Throws `unknown_symbol` for a name that the source does not have, and `window_missing` when only the exchange knows it. */
  private checkNames(named: readonly SymbolName[]): void {
    const known = this.knownSymbols()
    const unknown = named.filter(symbol => !known.includes(symbol))
    if (unknown.length === 0) return
    const error = unknownSymbols(unknown, known, `the mirror ${this.mirror.root}`)
    if (!this.mirror.rules.listsMirrored) throw error
    throw new KlinesError('window_missing', `The mirror ${this.mirror.root} does not have ${unknown.join(', ')}.`, {
      suggestions: [...error.suggestions, downloadAdvice(this.mirror)],
      data: error.data,
    })
  }

  /** The symbols that the source has, as far as the mirror knows. */
  private knownSymbols(): SymbolName[] {
    return sortSymbols([
      ...this.mirror.rules.symbols,
      ...this.mirror.contents.listedSymbols(),
      ...this.mirror.contents.symbols(),
    ])
  }

  private warnOfOthers(selection: Selection, found: ReadonlySet<SymbolName>): void {
    const { symbols } = selection
    const without = selectSymbols(selection, this.knownSymbols()).filter(symbol => !found.has(symbol))
    const whole = symbols === 'all' ? 'all' : symbols.filter(isSymbolPattern).join(',') || 'all'
    if (without.length > 0) this.warn(`Not in the mirror, so not part of "${whole}": ${without.join(', ')}.`)
  }

  /** The dates that the list lacks count too: their windows are missing unless they are cached. */
  async startDates(interval: Interval): Promise<string[]> {
    this.prepare()
    const list = cachedStartDateList(this.mirror, interval, this)
    if (this.acceptList) return list
    const file = this.mirror.contents.startDatesFile(interval)
    const now = file.state === 'file' ? Math.min(file.mtimeMs, this.now) : this.now
    return [...list, ...findMissingStartDates(list, interval, { known: [], now })].sort()
  }

  cachedStartDates(series: Series): string[] {
    return this.mirror.contents.startDates(series)
  }

  /**
   * A range with an end needs every window that has started by now. A range without one needs the windows that had started
   * when the list was last fetched, and any later cached one; newer windows are not missing, but a warning counts them.
   */
  horizon({ interval, symbol }: Series, toTime: number): number {
    const dates = this.mirror.contents.startDates({ interval, symbol })
    this.warnOfOutdated({ interval, symbol }, dates, toTime)
    const horizon = this.neededUntil({ interval, symbol }, dates, toTime)
    if (horizon < this.now) this.warnIfOutdated(interval, horizon)
    return horizon
  }

  /** The horizon of a series with these cached windows. */
  private neededUntil(series: Series, dates: readonly string[], toTime: number): number {
    const lastDate = dates.at(-1)
    const last = lastDate === undefined ? -Infinity : parseDate(lastDate)
    if (toTime !== Infinity || lastDate === undefined || this.covers(series)) return Math.max(last, this.now)
    const list = this.mirror.contents.startDatesFile(series.interval)
    return list.state === 'file' ? Math.max(last, list.mtimeMs) : last
  }

  private warnIfOutdated(interval: Interval, horizon: number): void {
    const [from, until] = [formatDate(horizon), formatDate(this.now)]
    const dates = cachedStartDateList(this.mirror, interval, this)
    const since = dates.filter(date => date > from && date <= until).length
    if (since > 0) this.warn(outdated(interval, horizon, `started since: ${since}`))
  }

  /** A published mirror has empty files for windows of the future: those that have begun since are not known to be empty. */
  private warnOfOutdated({ interval, symbol }: Series, dates: readonly string[], toTime: number): void {
    // The times of a copied tree say nothing.
    if (this.baseUrl === undefined) return
    const list = this.mirror.contents.startDatesFile(interval)
    // A static service renders windows when it likes: what counts is the download after they began.
    const knownUntil = list.state === 'file' && !this.mirror.rules.rendersAnswers ? list.mtimeMs : -Infinity
    const outdatedDates = dates.filter(startDate => {
      const startTime = parseDate(startDate)
      if (startTime <= knownUntil || startTime >= toTime || startTime > this.now) return false
      const window = { interval, symbol, startDate }
      const [isEmpty, time] = [
        this.mirror.files.size(windowPath(window)) <= EMPTY_WINDOW_BYTES,
        this.storedTime(window),
      ]
      return time !== undefined && this.mirror.rules.isOutdated(window, { isEmpty, time }, this.now)
    })
    const [startDate] = outdatedDates
    const time = startDate && this.storedTime({ interval, symbol, startDate })
    if (time) this.warn(outdated(interval, time, `started or ended since: ${outdatedDates.length}`))
  }

  /** When the service rendered a cached window, ms UTC; without a record, the time of its file. */
  private storedTime(window: WindowRef): number | undefined {
    const file = this.mirror.files.version(windowPath(window))
    const times = file && this.mirror.windows.timesOf(window, file)
    return times ? this.mirror.windows.renderedTime(times) : file?.mtimeMs
  }

  hasSeries(series: Series): boolean {
    return this.mirror.contents.hasSeries(series)
  }

  async coveredFrom(series: Series, range: TimeRange): Promise<number | undefined> {
    const dates = this.mirror.contents.startDates(series)
    const horizon = this.neededUntil(series, dates, range.toTime)
    const needed = planWindows(series, await this.startDates(series.interval), range, horizon)
    const cached = new Set(dates)
    const hasAll = this.covers(series) || needed.every(({ startDate }) => cached.has(startDate))
    return hasAll && needed.length > 0 ? Math.max(range.fromTime, parseDate(needed[0].startDate)) : undefined
  }

  async threeDayAnchor(symbol: SymbolName): Promise<number | undefined> {
    return this.mirror.windows.firstOpenTime({ symbol, interval: '3d' })
  }

  cacheState(window: WindowRef): 'cached' | 'missing' {
    const { state } = this.mirror.windows.borrow(window)
    return state === 'cached' || (state === 'missing' && this.covers(window)) ? 'cached' : 'missing'
  }

  isWhole(window: WindowRef): boolean {
    return this.mirror.windows.hasAllCandles(window)
  }

  windowCost(): RequestCost {
    return { requests: 0, limitMs: 0 }
  }

  limitsMs(): ReadonlyMap<string, number> {
    return new Map()
  }

  async window(window: WindowRef): Promise<WindowResult | WindowFailure> {
    return this.result(window, this.mirror.windows.readRows(window))
  }

  async borrowedWindow(window: WindowRef): Promise<WindowResult | WindowFailure> {
    return this.result(window, this.mirror.windows.borrow(window))
  }

  countedStatus(): 'cached' {
    return 'cached'
  }

  async close(): Promise<void> {}

  private covers(series: Series): boolean {
    const name = seriesName(series)
    const covered = this.covered.get(name) ?? this.mirror.contents.missingMeansEmpty(series)
    this.covered.set(name, covered)
    return covered
  }

  private result(window: WindowRef, read: BorrowedWindow | NoWindow): WindowResult | WindowFailure {
    if (read.state === 'cached') return { window, status: 'cached', batch: read.batch, size: read.size, file: read }
    if (read.state === 'corrupt') {
      return { window, status: 'failed', reason: `corrupt in the mirror: ${withoutStop(read.error.message)}` }
    }
    if (!this.covers(window)) return { window, status: 'failed', reason: 'not in the mirror' }
    return { window, status: 'cached', batch: decodeWindow(EMPTY_WINDOW, window), size: 0 }
  }
}

function outdated(interval: Interval, until: number, windows: string): string {
  return `The mirror's ${interval} candles are as of ${formatDate(until)}; windows that have ${windows}. Run klines download to fetch them.`
}

function nothingCached(message: string, mirror: Mirror): KlinesError {
  return new KlinesError('window_missing', message, { suggestions: [downloadAdvice(mirror)] })
}

/** The exchange is never the default source, so a download from it names it. */
function downloadAdvice({ baseUrl }: Mirror): string {
  const source = isExchange(baseUrl) ? ` --base-url ${baseUrl}` : ''
  return `Download candles first: klines download SYMBOL -i INTERVAL${source}, with the same \`mirror\`.`
}
