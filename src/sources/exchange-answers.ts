import type { Market } from '../candles/base-url.js'
import { MINUTE_MS } from '../candles/intervals.js'
import type { WindowRef } from '../candles/series.js'
import { windowSpan } from '../candles/windows.js'
import { hasMoreRows, joinRows, type RenderedWindow, renderWindow } from '../rows/closed-rows.js'
import { candlesCall, findError } from './exchange-api.js'
import { FetchError } from './fetch-error.js'
import type { Fetcher } from './fetcher.js'
import type { Fetched } from './source.js'
import { clockSkew, parseBody, type SourceClock } from './static.js'
import type { WholeResponse } from './transport.js'

/** The calls of the exchange, and its clock: the Date of its latest answer. */
export class ExchangeAnswers {
  /** ms UTC, and this machine's present then. */
  private latest: number | undefined
  private latestAt = -Infinity

  constructor(
    private readonly fetcher: Fetcher,
    readonly market: Market,
    readonly clock: SourceClock,
  ) {}

  /** Calls a path. `parse` gets the body, and when the exchange answered, by its own clock, ms UTC. */
  get<T>(path: string, parse: (bytes: Buffer, asked: number) => T, signal: AbortSignal) {
    const accept = (response: WholeResponse) => {
      const error = findError(response)
      if (error) throw error
      const asked = this.observe(response)
      return { value: parseBody(response, body => parse(body, asked)), bytes: response.body, asked }
    }
    return this.fetcher.get({ path, accept, signal })
  }

  /** The exchange's clock, ms UTC: it goes on from the latest answer for a minute, then it is asked again. */
  async now(signal: AbortSignal): Promise<number> {
    if (this.latest === undefined || !this.isPresent(this.latestAt))
      return (await this.get(`${this.market.api}/time`, () => undefined, signal)).asked
    return this.latest + Math.max(0, this.clock.now() - this.latestAt)
  }

  /** The exchange's clock as far as it is known without a call, at the latest this machine's present, ms UTC. */
  knownNow(): number {
    return Math.min(this.latest ?? Infinity, this.clock.now())
  }

  /** Whether a time, ms UTC, is less than a minute from this machine's present. */
  isPresent(time: number): boolean {
    return Math.abs(this.clock.now() - time) < MINUTE_MS
  }

  /**
   * Requests a window, or its rows behind those of `before`, until no further row can come: a host may send fewer. Its times are not later
   * than this machine's.
   */
  async window(window: WindowRef, signal: AbortSignal, before?: RenderedWindow): Promise<Fetched> {
    const span = windowSpan(window)
    let page: (RenderedWindow & { readonly hasMore?: boolean }) | undefined = before
    let time = this.clock.now()
    do {
      const known = page
      const startTime = known ? known.batch.openTime(known.batch.length - 1) + 1 : span.startTime
      const parse = (body: Buffer, asked: number) => {
        const rows = renderWindow(body, window, asked)
        const joined = known ? joinRows(known, rows, window) : rows
        return { ...joined, hasMore: hasMoreRows(rows.batch, window, asked) }
      }
      const { value, asked } = await this.get(candlesCall(this.market, window, { ...span, startTime }), parse, signal)
      page = value
      time = Math.min(time, asked)
    } while (page.hasMore)
    return { bytes: page.bytes, batch: page.batch, rendered: time, asked: time }
  }

  /** Only the exchange's clock decides what is closed: an answer without a Date is not later than the latest one. */
  private observe(response: WholeResponse): number {
    const date = Date.parse(response.headers.date ?? '')
    if (Number.isNaN(date) && this.latest !== undefined) return this.latest
    if (Number.isNaN(date)) throw new FetchError('invalid', 'the answer has no Date')
    this.clock.observe(clockSkew(response, this.clock.now()))
    this.latest = Math.max(this.latest ?? 0, date)
    this.latestAt = this.clock.now()
    return date
  }
}
