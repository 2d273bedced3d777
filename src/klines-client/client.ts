import { type Fetched, parseBody, parseTimes, toStatusError } from '../http/fetched.js'
import { openFetcher, type ServiceOptions } from '../http/open-fetcher.js'
import type { RetryingFetcher } from '../http/retrying-fetcher.js'
import type { WholeResponse } from '../http/transport/transport.js'
import type { WindowService } from '../http/window-service.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { decodeWindowBody } from '../klines/batch/window-codec.js'
import type { Interval } from '../klines/intervals.js'
import { parseStartDates, parseSymbols } from '../klines/lists.js'
import { SYMBOLS_PATH, startDatesPath, windowPath } from '../klines/paths.js'
import type { WindowRef } from '../klines/series.js'
import type { SymbolName } from '../klines/symbols.js'

/** The operations of the klines service, as in its OpenAPI description, for all intervals. */
export class KlinesClient implements WindowService {
  constructor(
    readonly fetcher: RetryingFetcher,
    private readonly now: () => number,
  ) {}

  /** getSymbols. Throws a `FetchError`, or `unreachable`. */
  symbols(signal: AbortSignal): Promise<Fetched<SymbolName[]>> {
    return this.get(SYMBOLS_PATH, parseSymbols, signal)
  }

  /** getStartDates. */
  startDates(interval: Interval, signal: AbortSignal): Promise<Fetched<string[]>> {
    return this.get(startDatesPath(interval), bytes => parseStartDates(bytes, interval), signal)
  }

  /**
   * Fetches a window; `unmodified` when it is not newer than `cachedMtimeMs` (ms UTC). A body that the codec rejects is a
   * failed attempt.
   */
  window(
    window: WindowRef,
    cachedMtimeMs: number | undefined,
    signal: AbortSignal,
  ): Promise<Fetched<KlineBatch> | 'unmodified'> {
    const conditional = cachedMtimeMs !== undefined
    return this.fetcher.get<Fetched<KlineBatch> | 'unmodified'>({
      path: encodeURI(windowPath(window)),
      headers: conditional ? { 'if-modified-since': new Date(cachedMtimeMs).toUTCString() } : {},
      accept: response =>
        conditional && response.status === 304
          ? 'unmodified'
          : this.accept(response, bytes => decodeWindowBody(bytes, window)),
      signal,
    })
  }

  private get<T>(path: string, parse: (bytes: Buffer) => T, signal: AbortSignal): Promise<Fetched<T>> {
    return this.fetcher.get({ path, accept: response => this.accept(response, parse), signal })
  }

  private accept<T>(response: WholeResponse, parse: (bytes: Buffer) => T): Fetched<T> {
    if (response.status !== 200) throw toStatusError(response)
    return { value: parseBody(response, parse), bytes: response.body, ...parseTimes(response, this.now()) }
  }
}

/** A client of a klines service. Throws `bad_base_url`. */
export async function openKlinesClient(options: ServiceOptions): Promise<KlinesClient> {
  return new KlinesClient(await openFetcher(options), options.now)
}
