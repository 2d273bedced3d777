import { isExchange } from '../../http/base-url.js'
import { KlinesError } from '../../klines/errors.js'
import { EXCHANGE_INTERVALS, type Interval, isMinutes } from '../../klines/intervals.js'
import { findMissingStartDates } from '../../klines/lists.js'
import { windowPath } from '../../klines/paths.js'
import type { Series } from '../../klines/series.js'
import { isSymbolPattern, type SymbolName, sortSymbols, unknownSymbols } from '../../klines/symbols.js'
import { quoteWord } from '../../klines/text.js'
import { formatDate, parseDate } from '../../klines/windows.js'
import type { Mirror } from '../../mirror/mirror.js'
import { EMPTY_WINDOW_BYTES } from '../../mirror/mirror-contents.js'
import { describeOtherMirrors } from '../../mirror/user-mirrors.js'
import { cachedStartDateList } from '../cached-start-dates.js'
import { noMinutes, otherSource } from '../errors.js'
import { combine, namesSymbols, type Selection, selectedIntervals, selectSymbols } from '../selection.js'
import type { SourceContents, Warn } from './window-source.js'

/** How a mirror is read. */
export interface MirrorContentsOptions {
  /** The present, ms UTC. */
  readonly now: number
  readonly warn: Warn
}

/** What a mirror alone has. */
export class MirrorSourceContents implements SourceContents {
  readonly now: number
  readonly warn: Warn

  constructor(
    private readonly mirror: Mirror,
    { now, warn }: MirrorContentsOptions,
  ) {
    this.now = now
    this.warn = warn
  }

  /** Throws `window_missing` when there is no mirror. */
  prepare(): void {
    if (!this.mirror.files.exists) throw nothingCached(`There is no mirror at ${this.mirror.root}.`, this.mirror)
  }

  async currentTime(): Promise<number> {
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
    const error = unknownSymbols(unknown, known, `the mirror ${this.mirror.root}`, otherSource(this.mirror.baseUrl))
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
  neededUntil({ interval, symbol }: Series, toTime: number): number {
    const dates = this.mirror.contents.startDates({ interval, symbol })
    this.warnOfOutdated({ interval, symbol }, dates, toTime)
    const until = this.findNeededUntil({ interval, symbol }, dates, toTime)
    if (until < this.now) this.warnIfOutdated(interval, until)
    return until
  }

  /** `neededUntil` of a series with these cached windows. */
  private findNeededUntil(series: Series, dates: readonly string[], toTime: number): number {
    const lastDate = dates.at(-1)
    const last = lastDate === undefined ? -Infinity : parseDate(lastDate)
    if (toTime !== Infinity || lastDate === undefined || this.isEmptyWithoutFile(series))
      return Math.max(last, this.now)
    const list = this.mirror.contents.startDatesFile(series.interval)
    return list.state === 'file' ? Math.max(last, list.mtimeMs) : last
  }

  private warnIfOutdated(interval: Interval, until: number): void {
    const [from, present] = [formatDate(until), formatDate(this.now)]
    const dates = cachedStartDateList(this.mirror, interval, this)
    const since = dates.filter(date => date > from && date <= present).length
    if (since > 0) this.warn(outdated(interval, until, `started since: ${since}`))
  }

  /** A published mirror has empty files for windows of the future: those that have begun since are not known to be empty. */
  private warnOfOutdated({ interval, symbol }: Series, dates: readonly string[], toTime: number): void {
    // The times of a copied tree say nothing.
    if (this.mirror.upkeep.readMeta() === undefined) return
    const list = this.mirror.contents.startDatesFile(interval)
    // A static service renders windows when it likes: what counts is the download after they began.
    const knownUntil = list.state === 'file' && !this.mirror.rules.rendersAnswers ? list.mtimeMs : -Infinity
    const renderedTimes = dates.flatMap(startDate => {
      const startTime = parseDate(startDate)
      if (startTime <= knownUntil || startTime >= toTime || startTime > this.now) return []
      const window = { interval, symbol, startDate }
      const file = this.mirror.files.version(windowPath(window))
      if (!file) return []
      const isEmpty = file.size <= EMPTY_WINDOW_BYTES
      const times = this.mirror.windows.timesOf(window, file)
      const time = times ? this.mirror.windows.renderedTime(times) : file.mtimeMs
      return this.mirror.rules.isOutdated(window, { isEmpty, time }, this.now) ? [time] : []
    })
    const [time] = renderedTimes
    if (time) this.warn(outdated(interval, time, `started or ended since: ${renderedTimes.length}`))
  }

  hasSeries(series: Series): boolean {
    return this.mirror.contents.hasSeries(series)
  }

  async threeDayAnchor(symbol: SymbolName): Promise<number | undefined> {
    return this.mirror.windows.firstOpenTime({ symbol, interval: '3d' })
  }

  /** Whether a window of a series is empty when the mirror has no file of it. */
  isEmptyWithoutFile(series: Series): boolean {
    return this.mirror.contents.missingMeansEmpty(series)
  }
}

function outdated(interval: Interval, until: number, windows: string): string {
  return `The mirror's ${interval} candles are as of ${formatDate(until)}; windows that have ${windows}. Run klines download to fetch them.`
}

function nothingCached(message: string, mirror: Mirror): KlinesError {
  const suggestions = [...(mirror.files.exists ? [] : describeOtherMirrors(mirror.root)), downloadAdvice(mirror)]
  return new KlinesError('window_missing', message, { suggestions })
}

/** The exchange is never the default source, so a download from it names it. */
function downloadAdvice({ baseUrl = '' }: Mirror): string {
  const source = isExchange(baseUrl) ? ` --base-url ${quoteWord(baseUrl)}` : ''
  return `Download candles first: klines download SYMBOL -i INTERVAL${source}, with the same \`mirror\`.`
}
