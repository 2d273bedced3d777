import type { ExchangeClient } from '../../exchange-client/client.js'
import { HOUR_MS } from '../../klines/intervals.js'
import { type Series, seriesName, type WindowRef } from '../../klines/series.js'
import { windowSpan } from '../../klines/windows.js'
import type { Mirror } from '../../mirror/mirror.js'

/** When the first candle of a series opens, ms UTC; infinite, for an hour, for a series without one. */
interface FirstCandle {
  readonly openTime: number
  readonly validUntil: number
}

/** Since when each series of an exchange has candles: the mirror knows it, or one request a series. */
export class FirstCandles {
  private readonly found = new Map<string, FirstCandle>()
  private readonly requests = new Map<string, Promise<void>>()
  /** The startDate of each series' first cached window with candles. */
  private readonly cached = new Map<string, string>()

  constructor(
    private readonly exchange: ExchangeClient,
    private readonly mirror: Mirror,
    private readonly options: { readonly signal: AbortSignal; readonly now: () => number },
  ) {}

  /** Whether a window ends before the first candle; undefined when that is not known yet. */
  isBefore(window: WindowRef): boolean | undefined {
    const found = this.found.get(seriesName(window))
    if (found && found.validUntil > this.options.now()) return windowSpan(window).endTime <= found.openTime
    const first = this.firstCached(window)
    return first !== undefined && first <= window.startDate ? false : undefined
  }

  /** The same, with a request when it is not known yet. Throws what `ExchangeClient.firstOpenTime` throws. */
  async findOut(window: WindowRef): Promise<boolean> {
    if (this.isBefore(window) === undefined) await this.request(window)
    return this.isBefore(window) === true
  }

  /** Requests the first candle of a series, unless the mirror has candles of it. */
  async check(series: Series): Promise<void> {
    if (this.firstCached(series) === undefined) await this.request(series)
  }

  private firstCached(series: Series): string | undefined {
    const name = seriesName(series)
    const first = this.cached.get(name) ?? this.mirror.firstPopulated(series)
    if (first !== undefined) this.cached.set(name, first)
    return first
  }

  /** Simultaneous callers share a request. */
  private request(series: Series): Promise<void> {
    const name = seriesName(series)
    const shared = this.requests.get(name)
    if (shared) return shared
    const request = this.fetch(series).finally(() => this.requests.delete(name))
    this.requests.set(name, request)
    return request
  }

  private async fetch(series: Series): Promise<void> {
    const { now, signal } = this.options
    const openTime = await this.exchange.firstOpenTime(series, signal)
    const first =
      openTime === undefined
        ? { openTime: Number.POSITIVE_INFINITY, validUntil: now() + HOUR_MS }
        : { openTime, validUntil: Number.POSITIVE_INFINITY }
    this.found.set(seriesName(series), first)
  }
}
