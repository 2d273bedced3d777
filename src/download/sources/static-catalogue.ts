import { PUBLIC_BASE_URL, SAMPLE } from '../../http/base-url.js'
import { FetchError } from '../../http/fetch-error.js'
import type { Fetched } from '../../http/fetched.js'
import { unreachable } from '../../http/service-errors.js'
import type { WindowService } from '../../http/window-service.js'
import { KlinesError } from '../../klines/errors.js'
import { type Interval, isMinutes } from '../../klines/intervals.js'
import { findMissingStartDates } from '../../klines/lists.js'
import { type Series, seriesName, windowOf } from '../../klines/series.js'
import { SYMBOLS, type SymbolName, unknownSymbols } from '../../klines/symbols.js'
import type { TimeRange } from '../../klines/time-range.js'
import { formatDate, knownStartDates } from '../../klines/windows.js'
import type { Mirror } from '../../mirror/mirror.js'
import { storedStartDates } from '../cached-start-dates.js'
import { incompleteList, joinNames, noMinutes, otherSource } from '../errors.js'
import type { RequestCost } from '../request-cost.js'
import { combine, namesSymbols, type Selection, selectedIntervals, selectSymbols } from '../selection.js'
import type { SourceCatalogue } from './source-catalogue.js'
import type { ServiceSourceOptions } from './source-options.js'

type StoreList = (list: Fetched<SymbolName[]>) => void

/** The lists of a static klines service, compared with what the mirror knows. */
export class StaticCatalogue implements SourceCatalogue {
  private readonly baseUrl: string

  constructor(
    private readonly service: WindowService,
    private readonly mirror: Mirror,
    private readonly options: ServiceSourceOptions,
  ) {
    this.baseUrl = service.fetcher.baseUrl
  }

  async currentTime(): Promise<number> {
    return this.options.now()
  }

  /**
   * Requests the list of symbols for `all`, a pattern, and a name that is not one of the ten. Throws `unknown_interval` for 1m, 3m
   * and 5m of the public service.
   */
  async select(selection: Selection, _range: TimeRange, store: StoreList): Promise<Series[]> {
    const intervals = selectedIntervals(selection)
    const minutes = this.baseUrl === PUBLIC_BASE_URL && intervals.find(isMinutes)
    if (minutes) throw this.noMinutes(minutes)
    if (!namesSymbols(selection)) {
      const list = await this.symbols()
      const listed = list.value
      const others = SYMBOLS.filter(symbol => !listed.includes(symbol))
      if (selection.symbols === 'all' && others.length > 0)
        this.options.warn(`Not listed by the service, so not part of "all": ${joinNames(others)}.`)
      const selected = selectSymbols(selection, listed)
      store(list)
      return combine(selected, intervals)
    }
    const named = selectSymbols(selection, [])
    await this.checkNames(named, intervals[0], store)
    return combine(named, intervals)
  }

  /** A service may have symbols that its list lacks: their newest window decides. */
  private async checkNames(named: readonly SymbolName[], interval: Interval, store: StoreList): Promise<void> {
    const isKnown = (symbol: SymbolName, names: readonly SymbolName[]) => names.includes(symbol)
    const others = named.filter(symbol => !isKnown(symbol, SYMBOLS))
    if (others.length === 0) return
    const list = await this.symbols()
    const listed = list.value
    const unlisted = others.filter(symbol => !isKnown(symbol, listed))
    const found = await Promise.all(unlisted.map(symbol => this.hasWindow({ symbol, interval })))
    const unknown = unlisted.filter((_, index) => !found[index])
    if (unknown.length > 0) throw unknownSymbols(unknown, listed, this.baseUrl, otherSource(this.baseUrl))
    // A run that fails here leaves nothing.
    store(list)
  }

  private async hasWindow(series: Series): Promise<boolean> {
    const { now, signal } = this.options
    const today = formatDate(now())
    // A published tree may be some days old.
    const known = isMinutes(series.interval) ? await this.startDates(series.interval) : undefined
    const startDate = (known?.value ?? knownStartDates(series.interval)).findLast(date => date <= today) ?? today
    try {
      await this.service.window(windowOf(series, startDate), undefined, signal)
      return true
    } catch (error) {
      if (!(error instanceof FetchError)) throw error
      // A service that does not answer says nothing about the symbol.
      if (error.unreachable) throw unreachable(this.baseUrl, error, seriesName(series))
      return false
    }
  }

  /**
   * Downloads the startDates of an interval. Throws `incomplete` when the list has a hole, ends before the present or lacks
   * what is cached; `unknown_interval` when the service has no list of 1m, 3m or 5m; `bad_list` and `unreachable`.
   */
  async startDates(interval: Interval): Promise<Fetched<string[]>> {
    const { signal, now } = this.options
    const request = this.service.startDates(interval, signal).catch(error => {
      const isUnknown = isMinutes(interval) && error instanceof FetchError && error.status === 404
      throw isUnknown ? this.noMinutes(interval, error) : error
    })
    const list = await this.download(`the list of ${interval} start dates`, request)
    const cached = this.mirror.contents
      .symbols()
      .flatMap(symbol => this.mirror.contents.startDates({ symbol, interval }))
    // A stored list that is corrupt knows nothing; the downloaded one replaces it.
    const known = [...(storedStartDates(this.mirror, interval) ?? []), ...cached]
    // A list need not reach a present that only a wrong clock knows.
    const missing = findMissingStartDates(list.value, interval, { known, now: Math.min(now(), list.servedMs) })
    this.refuseIncomplete(`The list of ${interval} start dates`, missing)
    return list
  }

  /**
   * Downloads the service's symbols. Throws `incomplete` when one is missing that the stored list has or that is cached, or that
   * the public service has; `bad_list` and `unreachable`.
   */
  async symbols(): Promise<Fetched<SymbolName[]>> {
    const list = await this.download('the list of symbols', this.service.symbols(this.options.signal))
    if (list.value.length === 0)
      throw new KlinesError('bad_list', 'The list of symbols is refused: it is empty.', {
        data: { baseUrl: this.baseUrl },
      })
    const stored = this.baseUrl === PUBLIC_BASE_URL ? SYMBOLS : this.mirror.contents.listedSymbols()
    const known = new Set([...stored, ...this.mirror.contents.symbols()])
    for (const symbol of list.value) known.delete(symbol)
    this.refuseIncomplete('The list of symbols', [...known])
    return list
  }

  windowCost(): RequestCost {
    return { requests: 1, limitMs: 0 }
  }

  updatedSymbolList(): undefined {
    return undefined
  }

  private noMinutes(interval: Interval, cause?: FetchError): KlinesError {
    const source = this.baseUrl === SAMPLE ? 'The sample' : `The static klines service at ${this.baseUrl}`
    return noMinutes(interval, source, cause)
  }

  private refuseIncomplete(list: string, missing: readonly string[]): void {
    if (missing.length > 0) throw incompleteList(list, missing, this.baseUrl)
  }

  /** A service without its lists counts as unreachable; a list with wrong contents is `bad_list`. */
  private async download<T>(what: string, request: Promise<T>): Promise<T> {
    try {
      return await request
    } catch (error) {
      if (!(error instanceof FetchError)) throw error
      const refused = error.cause instanceof KlinesError && !error.notJson
      if (refused)
        throw new KlinesError('bad_list', error.message, {
          cause: error,
          data: { baseUrl: this.baseUrl },
        })
      throw unreachable(this.baseUrl, error, what)
    }
  }
}
