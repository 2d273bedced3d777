import { toSourceName } from '../http/base-url.js'
import { cleanText } from '../http/error-body.js'
import { FetchError } from '../http/fetch-error.js'
import { type Fetched, parseBody, parseTimes, type ResponseTimes, toStatusError } from '../http/fetched.js'
import { openFetcher, type ServiceOptions } from '../http/open-fetcher.js'
import { isTransientStatus } from '../http/retry.js'
import type { RetryingFetcher } from '../http/retrying-fetcher.js'
import { systemClock } from '../http/system-clock.js'
import type { WholeResponse } from '../http/transport/transport.js'
import type { WindowService } from '../http/window-service.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { type BodyFault, KlinesError } from '../klines/errors.js'
import type { Interval } from '../klines/intervals.js'
import { isObject } from '../klines/json.js'
import { parseList } from '../klines/lists.js'
import type { Series, WindowRef } from '../klines/series.js'
import { isSymbol, SYMBOL_FORM, type SymbolName, sortSymbols } from '../klines/symbols.js'
import { exchangeStartDates } from '../klines/windows.js'
import { hasMoreRows, joinRows, type RenderedWindow, renderWindow } from './closed-rows.js'
import { findError } from './errors.js'
import { firstCandleQuery, NAMES_PATH, TIME_PATH, windowQuery } from './query.js'
import { ExchangeRules } from './rules.js'

/** The Date of an answer has whole seconds. */
const SECOND_MS = 1000

const MAX_NAMES_SHOWN = 5
const MAX_NAME_LENGTH = 20

/** The rows of a window up to the end of an answer. */
interface Page extends Fetched<KlineBatch> {
  /** Whether there may be more rows. */
  readonly hasMore: boolean
}

/** The market data of the exchange, as the windows of the published tree. It needs no key. */
export class ExchangeClient implements WindowService {
  private latest: ResponseTimes | undefined
  /** The request for the clock that is under way. */
  private clock: Promise<ResponseTimes> | undefined

  constructor(
    readonly fetcher: RetryingFetcher,
    private readonly warn: (warning: string) => void,
    private readonly now: () => number,
  ) {}

  /** Every symbol that has ever been traded, delisted ones too. */
  async symbols(signal: AbortSignal): Promise<Fetched<SymbolName[]>> {
    const { value, ...rest } = await this.get(NAMES_PATH, parseNames, signal)
    const { symbols, unusable } = value
    if (unusable.length > 0) this.warn(describeUnusable(unusable))
    return { value: symbols, ...rest }
  }

  /** The calendar, for the whole history of the exchange; its times are those of the latest answer. */
  async startDates(interval: Interval, signal: AbortSignal): Promise<Fetched<string[]>> {
    const times = await this.times(signal)
    const value = exchangeStartDates(interval, times.servedMs)
    return { value, bytes: Buffer.from(JSON.stringify(value)), ...times }
  }

  /**
   * The closed candles of a window, with the times of the first answer. It is always requested whole, with one call, and two for
   * a day of 1m; one more where its candles end early, because a host may send fewer rows than it was asked for. A body that is
   * no window is a failed attempt.
   */
  async window(
    window: WindowRef,
    _cachedMtimeMs: number | undefined,
    signal: AbortSignal,
  ): Promise<Fetched<KlineBatch>> {
    const first = await this.page(window, signal)
    let latest = first
    while (latest.hasMore) latest = await this.page(window, signal, latest)
    return { ...first, value: latest.value, bytes: latest.bytes }
  }

  /** The next answer for a window, after the rows of `before`. */
  private page(window: WindowRef, signal: AbortSignal, before?: RenderedWindow): Promise<Page> {
    const accept = (response: WholeResponse) => {
      const times = this.accept(response)
      return parseBody(response, body => {
        const page = renderWindow(body, window, times.servedMs)
        const hasMore = hasMoreRows(page.value, window, times.servedMs)
        return { ...(before ? joinRows(before, page, window) : page), ...times, hasMore }
      })
    }
    const from = before && before.value.openTime(before.value.length - 1) + 1
    return this.fetcher.get({ path: windowQuery(window, from), accept, signal })
  }

  /**
   * When the first candle of a series opens, ms UTC; undefined for a series without one. Throws `InvalidSymbolError` for a
   * symbol that the exchange does not know.
   */
  async firstOpenTime(series: Series, signal: AbortSignal): Promise<number | undefined> {
    return (await this.get(firstCandleQuery(series), parseFirstOpenTime, signal)).value
  }

  /** The times of the latest answer, those of a request for the exchange's clock when there is none. */
  async times(signal: AbortSignal): Promise<ResponseTimes> {
    if (this.latest) return this.latest
    this.clock ??= this.fetchTimes(signal).finally(() => {
      this.clock = undefined
    })
    return this.clock
  }

  private fetchTimes(signal: AbortSignal): Promise<ResponseTimes> {
    const accept = (response: WholeResponse) => {
      // Any other answer has the exchange's Date too.
      if (isTransientStatus(response.status)) throw toStatusError(response)
      return this.observe(response)
    }
    return this.fetcher.get({ path: TIME_PATH, accept, signal })
  }

  private get<T>(
    path: string,
    parse: (bytes: Buffer, servedMs: number) => T,
    signal: AbortSignal,
  ): Promise<Fetched<T>> {
    const accept = (response: WholeResponse) => {
      const times = this.accept(response)
      return { value: parseBody(response, body => parse(body, times.servedMs)), bytes: response.body, ...times }
    }
    return this.fetcher.get({ path, accept, signal })
  }

  /** The times of an answer. Throws a `FetchError` when it is not what was requested. */
  private accept(response: WholeResponse): ResponseTimes {
    const error = findError(response)
    if (error) throw error
    return this.observe(response)
  }

  /**
   * Only the exchange's clock decides what is closed: a response without a Date is not later than the latest one. Throws a
   * `FetchError` when there is none.
   */
  private observe(response: WholeResponse): ResponseTimes {
    if (Number.isNaN(Date.parse(response.headers.date ?? ''))) {
      if (this.latest) return this.latest
      throw new FetchError('invalid', 'the answer has no Date')
    }
    const times = parseTimes(response, this.now())
    this.latest = times.servedMs >= (this.latest?.servedMs ?? 0) ? times : this.latest
    return times
  }
}

/** Says which names cannot be used: the first ones, safe for a terminal. */
function describeUnusable(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES_SHOWN).map(name => `"${cleanText(name, MAX_NAME_LENGTH)}"`)
  const more = names.length > shown.length ? ` and ${(names.length - shown.length).toLocaleString('en-US')} more` : ''
  return `Names that are not ${SYMBOL_FORM}, in upper case, are left out: ${shown.join(', ')}${more}.`
}

/**
 * The open time of the one candle of an answer, which was made at `servedMs`, ms UTC: a later one would make all windows empty.
 * Throws `bad_window`.
 */
function parseFirstOpenTime(bytes: Buffer, servedMs: number): number | undefined {
  const fail = (reason: string, kind: BodyFault = 'shape', cause?: unknown) => {
    const message = `the answer for the first candle is not an array of candles: ${reason}`
    return new KlinesError('bad_window', message, { cause, data: { kind } })
  }
  let rows: unknown
  try {
    rows = JSON.parse(bytes.toString())
  } catch (cause) {
    throw fail('it is not JSON', 'not_json', cause)
  }
  if (!Array.isArray(rows)) throw fail('it is not an array')
  if (rows.length === 0) return undefined
  if (rows.length > 1) throw fail(`it has ${rows.length} rows, expected one`)
  const openTime: unknown = Array.isArray(rows[0]) ? rows[0][0] : undefined
  const isTime = typeof openTime === 'number' && Number.isSafeInteger(openTime)
  if (isTime && openTime <= servedMs + SECOND_MS) return openTime
  throw fail('it has no open time in the past')
}

/** How an exchange is used. */
interface ExchangeOptions extends ServiceOptions {
  readonly warn: (warning: string) => void
}

/** A client of the exchange. Throws `bad_base_url`. */
export async function openExchangeClient({ warn, ...options }: ExchangeOptions): Promise<ExchangeClient> {
  // Limits and bans last as long as they do, whatever present the user names.
  const rules = new ExchangeRules(toSourceName(options.baseUrl), systemClock.now)
  return new ExchangeClient(await openFetcher(options, rules), warn, options.now)
}

/** The exchange has some 3,500 names. */
const MAX_NAMES = 50_000
/** A larger body is not parsed; 3,500 names take 160 kB. */
const MAX_BYTES = 8 * 1024 * 1024

/** The names of an exchange. */
interface ExchangeNames {
  readonly symbols: SymbolName[]
  /** Names that cannot be a path: the exchange allows more than letters and digits. */
  readonly unusable: string[]
}

const LIST = "The exchange's list of symbols"

/** Parses the answer for `NAMES_PATH`. Throws `bad_list`. */
export function parseNames(bytes: Uint8Array): ExchangeNames {
  const names = parseList(bytes, LIST, { maxBytes: MAX_BYTES, maxEntries: MAX_NAMES }).map((entry, index) => {
    if (isObject(entry) && typeof entry.symbol === 'string') return entry.symbol
    throw new KlinesError('bad_list', `${LIST} is refused: entry ${index} has no symbol.`, { data: { kind: 'shape' } })
  })
  return { symbols: sortSymbols(names.filter(isSymbol)), unusable: names.filter(name => !isSymbol(name)) }
}
