import { exchangeStartDates } from '../../exchange-client/calendar.js'
import { type LocalEndpoint, toSourceName } from '../../http/base-url.js'
import { decodeWindow } from '../../klines/batch/window-codec.js'
import { KlinesError } from '../../klines/errors.js'
import type { Interval } from '../../klines/intervals.js'
import { findMissingStartDates, parseStartDates } from '../../klines/lists.js'
import type { Series, WindowRef } from '../../klines/series.js'
import { isSymbolPattern, SYMBOLS, type SymbolName, sortSymbols, unknownSymbols } from '../../klines/symbols.js'
import { formatDate, knownStartDates, parseDate } from '../../klines/windows.js'
import type { BorrowedWindow, Mirror, NoWindow } from '../../mirror/mirror.js'
import { withoutStop } from '../errors.js'
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
  readonly baseUrl: string | undefined
  readonly offline = true
  readonly advice = 'Download them with klines download, or choose a range that the mirror has with `from` and `to`.'

  readonly traffic = { requests: 0, bytes: 0 }
  readonly mirrorRoot: string
  /** Whether a window without a file is empty. */
  private readonly complete: boolean

  private readonly acceptList: boolean
  private readonly now: number
  private readonly warn: Warn

  /** Throws `mirror_mismatch` when the mirror belongs to another base address. */
  constructor(
    private readonly mirror: Mirror,
    { baseUrl, acceptList = false, now, warn }: MirrorSourceOptions,
  ) {
    if (baseUrl !== undefined) mirror.checkBase(toSourceName(baseUrl))
    this.acceptList = acceptList
    this.now = now
    this.warn = warn
    this.mirrorRoot = mirror.root
    const meta = mirror.readMeta(warn)
    this.baseUrl = meta?.baseUrl
    this.complete = meta?.complete ?? false
  }

  /** Throws `window_missing` when there is no mirror. */
  prepare(): void {
    if (!this.mirror.exists) throw nothingCached(`There is no mirror at ${this.mirror.root}.`)
  }

  async present(): Promise<number> {
    return this.now
  }

  /** `all` and a pattern are every series with a cached window; a named series need not have one. */
  async series(selection: Selection): Promise<Series[]> {
    const { symbols, intervals } = selection
    const intervalsOf = selectedIntervals(selection)
    if (namesSymbols(selection)) this.checkNames(selectSymbols(selection, []))
    if (namesSymbols(selection) && intervals !== 'all') return combine(selectSymbols(selection, []), intervalsOf)
    this.prepare()
    const isNamed = ({ symbol }: Series) => intervals !== 'all' && symbols !== 'all' && symbols.includes(symbol)
    // Throws for a pattern that matches nothing in the mirror.
    const selected = combine(selectSymbols(selection, this.mirror.symbols()), intervalsOf)
    const cached = selected.filter(series => isNamed(series) || this.mirror.hasSeries(series))
    if (cached.length === 0) throw nothingCached(`The mirror ${this.mirror.root} has none of these series.`)
    this.warnOfOthers(selection, new Set(cached.map(({ symbol }) => symbol)))
    return cached
  }

  /** Throws `unknown_symbol` for a name that the source does not have, and `window_missing` when only the exchange knows it. */
  private checkNames(named: readonly SymbolName[]): void {
    const known = this.knownSymbols()
    const unknown = named.filter(symbol => !known.includes(symbol))
    if (unknown.length === 0) return
    const error = unknownSymbols(unknown, known, `the mirror ${this.mirror.root}`)
    if (!this.mirror.isOfExchange) throw error
    const { suggestions } = nothingCached('')
    throw new KlinesError('window_missing', `The mirror ${this.mirror.root} does not have ${unknown.join(', ')}.`, {
      suggestions: [...error.suggestions, ...suggestions],
      data: error.data,
    })
  }

  /** The symbols that the source has, as far as the mirror knows. */
  private knownSymbols(): SymbolName[] {
    const builtIn = this.mirror.isOfExchange ? [] : SYMBOLS
    return sortSymbols([...builtIn, ...this.mirror.listedSymbols(), ...this.mirror.symbols()])
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
    const list = cachedStartDateList(this.mirror, interval, this.warn)
    if (this.acceptList) return list
    const file = this.mirror.startDatesFile(interval)
    const now = file.state === 'file' ? Math.min(file.mtimeMs, this.now) : this.now
    return [...list, ...findMissingStartDates(list, interval, { known: [], now })].sort()
  }

  cachedStartDates(series: Series): string[] {
    return this.mirror.cachedStartDates(series)
  }

  /**
   * A range with an end needs every window that has started by now. A range without one needs the windows that had started
   * when the list was last fetched, and any later cached one; newer windows are not missing, but a warning counts them.
   */
  horizon({ interval, symbol }: Series, toTime: number): number {
    const lastDate = this.mirror.cachedStartDates({ interval, symbol }).at(-1)
    const last = lastDate === undefined ? -Infinity : parseDate(lastDate)
    if (toTime !== Infinity || lastDate === undefined || this.complete) return Math.max(last, this.now)
    const list = this.mirror.startDatesFile(interval)
    const horizon = list.state === 'file' ? Math.max(last, list.mtimeMs) : last
    this.warnIfOutdated(interval, horizon)
    return horizon
  }

  private warnIfOutdated(interval: Interval, horizon: number): void {
    const dates = cachedStartDateList(this.mirror, interval, this.warn)
    const since = dates.filter(date => parseDate(date) > horizon && parseDate(date) <= this.now).length
    if (since === 0) return
    const until = formatDate(horizon)
    this.warn(
      `The mirror's ${interval} candles are as of ${until}; windows that have started since: ${since}. Run klines download to fetch them.`,
    )
  }

  hasSeries(series: Series): boolean {
    return this.mirror.hasSeries(series)
  }

  async threeDayAnchor(symbol: SymbolName): Promise<number | undefined> {
    return this.mirror.firstOpenTime({ symbol, interval: '3d' })
  }

  cacheState(window: WindowRef): 'cached' | 'missing' {
    const { state } = this.mirror.borrowWindow(window)
    return state === 'cached' || (state === 'missing' && this.complete) ? 'cached' : 'missing'
  }

  async window(window: WindowRef): Promise<WindowResult | WindowFailure> {
    return this.result(window, this.mirror.readWindow(window))
  }

  async borrowedWindow(window: WindowRef): Promise<WindowResult | WindowFailure> {
    return this.result(window, this.mirror.borrowWindow(window))
  }

  async close(): Promise<void> {}

  private result(window: WindowRef, read: BorrowedWindow | NoWindow): WindowResult | WindowFailure {
    if (read.state === 'cached') return { window, status: 'cached', batch: read.batch, size: read.size }
    if (read.state === 'corrupt') {
      return { window, status: 'failed', reason: `corrupt in the mirror: ${withoutStop(read.error.message)}` }
    }
    if (!this.complete) return { window, status: 'failed', reason: 'not in the mirror' }
    return { window, status: 'cached', batch: decodeWindow(EMPTY_WINDOW, window), size: 0 }
  }
}

/** The start dates of an interval from the mirror's list, else from the list built into this version. */
export function cachedStartDateList(mirror: Mirror, interval: Interval, warn: Warn): string[] {
  const file = mirror.startDatesFile(interval)
  const builtIn = builtInStartDates(mirror, interval)
  if (file.state === 'missing') return builtIn
  try {
    if (file.state === 'corrupt')
      throw new KlinesError('bad_list', `The list of ${interval} start dates is ${file.reason}.`)
    return parseStartDates(file.bytes, interval)
  } catch (error) {
    warn(`${(error as KlinesError).message} The built-in list is used instead.`)
    return builtIn
  }
}

/** The start dates that this version knows of a mirror's source. */
export function builtInStartDates(mirror: Mirror, interval: Interval): string[] {
  return mirror.isOfExchange ? exchangeStartDates(interval) : knownStartDates(interval)
}

function nothingCached(message: string): KlinesError {
  return new KlinesError('window_missing', message, {
    suggestions: ['Download candles first: klines download SYMBOL -i INTERVAL, with the same `mirror`.'],
  })
}
