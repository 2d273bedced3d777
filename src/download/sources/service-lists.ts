import { PUBLIC_BASE_URL } from '../../http/base-url.js'
import { FetchError } from '../../http/fetch-error.js'
import { unreachable } from '../../http/service-errors.js'
import { isKlinesError, KlinesError } from '../../klines/errors.js'
import { INTERVALS, type Interval } from '../../klines/intervals.js'
import { findMissingStartDates, parseStartDates, parseSymbols } from '../../klines/lists.js'
import { SYMBOLS_PATH } from '../../klines/paths.js'
import { SYMBOLS, type SymbolName } from '../../klines/symbols.js'
import type { Fetched, KlinesClient } from '../../klines-client/client.js'
import type { Mirror } from '../../mirror/mirror.js'
import { incompleteList, joinNames } from '../errors.js'
import type { Warn } from './window-source.js'

/** How `ServiceLists` downloads lists. */
export interface ListOptions {
  /** Take a list that lacks known entries as it is. */
  readonly acceptList: boolean
  readonly signal: AbortSignal
  readonly warn: Warn
  /** The present, ms UTC. */
  readonly now: () => number
}

/** The lists of a service, held against what the mirror knows. */
export class ServiceLists {
  private readonly baseUrl: string

  constructor(
    private readonly service: KlinesClient,
    private readonly mirror: Mirror,
    private readonly options: ListOptions,
  ) {
    this.baseUrl = service.fetcher.baseUrl
  }

  /**
   * Downloads the startDates of an interval. Throws `incomplete` when the list has a hole, ends before the present or lacks
   * what is cached; `bad_list` and `unreachable`.
   */
  async startDates(interval: Interval): Promise<Fetched<string[]>> {
    const { signal, now } = this.options
    const list = await this.download(`the list of ${interval} start dates`, this.service.startDates(interval, signal))
    const cached = SYMBOLS.flatMap(symbol => this.mirror.cachedStartDates({ symbol, interval }))
    const known = [...this.storedStartDates(interval), ...cached]
    // A list need not reach a present that only a wrong clock knows.
    const missing = findMissingStartDates(list.value, interval, { known, now: Math.min(now(), list.servedMs) })
    this.refuseIncomplete(`The list of ${interval} start dates`, missing)
    return list
  }

  /**
   * Downloads the service's symbols that this version knows. Throws `incomplete` when one is missing that the stored list has
   * or that is cached, or that the public service has; `bad_list` and `unreachable`.
   */
  async symbols(): Promise<Fetched<SymbolName[]>> {
    const { signal, warn } = this.options
    const list = await this.download('the list of symbols', this.service.symbols(signal))
    const { symbols, unknown } = list.value
    if (unknown.length > 0) warn(`Symbols this version does not know are left out: ${unknown.join(', ')}.`)
    if (symbols.length === 0)
      throw new KlinesError('bad_list', 'The list of symbols is refused: it has none that this version knows.', {
        data: { baseUrl: this.baseUrl },
      })
    const isCached = (symbol: SymbolName) => INTERVALS.some(interval => this.mirror.hasSeries({ symbol, interval }))
    const stored = this.baseUrl === PUBLIC_BASE_URL ? SYMBOLS : this.storedSymbols()
    const unlisted = SYMBOLS.filter(symbol => !symbols.includes(symbol))
    const missing = unlisted.filter(symbol => stored.includes(symbol) || isCached(symbol))
    this.refuseIncomplete('The list of symbols', missing)
    return { ...list, value: symbols }
  }

  private refuseIncomplete(list: string, missing: readonly string[]): void {
    if (missing.length === 0) return
    if (!this.options.acceptList) throw incompleteList(list, missing, this.baseUrl)
    this.options.warn(`${list} lacks ${joinNames(missing)}; it is used anyway.`)
  }

  private storedStartDates(interval: Interval): readonly string[] {
    const file = this.mirror.startDatesFile(interval)
    return file.state === 'file' ? unlessCorrupt(() => parseStartDates(file.bytes, interval)) : []
  }

  private storedSymbols(): readonly string[] {
    const file = this.mirror.readBytes(SYMBOLS_PATH)
    return file.state === 'file' ? unlessCorrupt(() => parseSymbols(file.bytes).symbols) : []
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

/** A stored list that is corrupt knows nothing; the downloaded one replaces it. */
function unlessCorrupt(parse: () => readonly string[]): readonly string[] {
  try {
    return parse()
  } catch (error) {
    if (isKlinesError(error, 'bad_list')) return []
    throw error
  }
}
