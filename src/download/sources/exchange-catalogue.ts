import pMap from 'p-map'
import type { ExchangeClient } from '../../exchange-client/client.js'
import { InvalidSymbolError } from '../../exchange-client/errors.js'
import { budgetMs, windowCalls, windowWeight } from '../../exchange-client/query.js'
import { FetchError } from '../../http/fetch-error.js'
import type { Fetched } from '../../http/fetched.js'
import { unreachable } from '../../http/service-errors.js'
import { isKlinesError, KlinesError } from '../../klines/errors.js'
import type { Interval } from '../../klines/intervals.js'
import type { Series } from '../../klines/series.js'
import { isSymbolPattern, type SymbolName, sortSymbols, unknownSymbols } from '../../klines/symbols.js'
import type { TimeRange } from '../../klines/time-range.js'
import type { Mirror } from '../../mirror/mirror.js'
import type { RequestCost } from '../request-cost.js'
import { combine, type Selection, selectedIntervals, selectSymbols } from '../selection.js'
import { FirstCandles } from './first-candles.js'
import type { SourceCatalogue } from './source-catalogue.js'
import type { ServiceSourceOptions } from './source-options.js'

/** Probes at once; the fetcher limits the requests. */
const PROBES_AT_ONCE = 16

/** What an exchange has: far more symbols than a mirror, and windows from the calendar instead of a list. */
export class ExchangeCatalogue implements SourceCatalogue {
  readonly firstCandles: FirstCandles
  /** The symbols of the mirror's list, once it is known. */
  private listed: Set<SymbolName> | undefined
  /** Whether that list has been compared with the mirror. */
  private isListChecked = false

  constructor(
    private readonly exchange: ExchangeClient,
    private readonly mirror: Mirror,
    private readonly options: ServiceSourceOptions,
  ) {
    this.firstCandles = new FirstCandles(exchange, mirror, options)
  }

  async currentTime(): Promise<number> {
    return (await this.request("the exchange's clock", this.exchange.times(this.options.signal))).servedMs
  }

  /**
   * `all` are the symbols of the mirror; a pattern is compared with the exchange's names. Every series without a cached candle, or
   * without some window of the range before it, is checked with one request, before anything is downloaded. Throws `bad_option` for
   * an empty mirror.
   */
  async select(selection: Selection, range: TimeRange): Promise<Series[]> {
    const { symbols } = selection
    const hasPattern = symbols !== 'all' && symbols.some(isSymbolPattern)
    const available = symbols === 'all' ? this.mirrored() : hasPattern ? (await this.symbols()).value : []
    const selected = selectSymbols(selection, available)
    const series = combine(selected, selectedIntervals(selection))
    await this.checkSeries(series, range)
    return series
  }

  async symbols(): Promise<Fetched<SymbolName[]>> {
    return this.request('the list of symbols', this.exchange.symbols(this.options.signal))
  }

  startDates(interval: Interval): Promise<Fetched<string[]>> {
    return this.request("the exchange's clock", this.exchange.startDates(interval, this.options.signal))
  }

  windowCost(interval: Interval): RequestCost {
    return { requests: windowCalls(interval), limitMs: budgetMs(windowWeight(interval)) }
  }

  /** The mirror's list names what the mirror has, as the published one names what its tree has. */
  updatedSymbolList(symbol: SymbolName): Buffer | undefined {
    this.listed ??= new Set(this.mirror.contents.listedSymbols())
    // Another process may have added others meanwhile, or been killed before it did: looked at once.
    const names = this.isListChecked ? [symbol] : [...this.mirror.contents.symbols(), symbol]
    this.isListChecked = true
    if (names.every(name => this.listed?.has(name))) return undefined
    this.listed = new Set([...this.mirror.contents.symbols(), symbol])
    return Buffer.from(JSON.stringify(sortSymbols(this.listed)))
  }

  private mirrored(): SymbolName[] {
    const symbols = this.mirror.contents.symbols()
    if (symbols.length > 0) return symbols
    const message = `"all" stands for the symbols of the mirror, and ${this.mirror.root} has none yet.`
    throw new KlinesError('bad_option', message, {
      suggestions: [
        `Name symbols, or a quoted pattern such as '*BTC'; klines symbols --base-url ${this.exchange.fetcher.baseUrl} lists them.`,
      ],
    })
  }

  /** Throws `unknown_symbol` for all symbols that the exchange does not know. */
  private async checkSeries(series: readonly Series[], range: TimeRange): Promise<void> {
    const unknown = new Set<SymbolName>()
    const check = async (name: Series) => {
      if (unknown.has(name.symbol)) return
      try {
        await this.request('the first candle', this.firstCandles.check(name, range))
      } catch (error) {
        if (!(error instanceof InvalidSymbolError)) throw error
        unknown.add(name.symbol)
      }
    }
    await pMap(series, check, { concurrency: PROBES_AT_ONCE })
    if (unknown.size > 0) throw unknownSymbols([...unknown], await this.namesIfKnown(), this.exchange.fetcher.baseUrl)
  }

  /** The names for suggestions: without them the error is still right. */
  private async namesIfKnown(): Promise<readonly SymbolName[]> {
    try {
      return (await this.symbols()).value
    } catch (error) {
      if (isKlinesError(error)) return []
      throw error
    }
  }

  /** A failed request ends the run, except for an unknown symbol, which is thrown as it is. */
  private async request<T>(what: string, request: Promise<T>): Promise<T> {
    try {
      return await request
    } catch (error) {
      if (!(error instanceof FetchError) || error instanceof InvalidSymbolError) throw error
      throw unreachable(this.exchange.fetcher.baseUrl, error, what)
    }
  }
}
