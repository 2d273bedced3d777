import { parseErrorBody } from '../http/error-body.js'
import { FetchError } from '../http/fetch-error.js'
import { isTransientStatus } from '../http/retry.js'
import type { RetryingFetcher } from '../http/retrying-fetcher.js'
import type { WholeResponse } from '../http/transport.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { decodeWindow } from '../klines/batch/window-codec.js'
import { KlinesError } from '../klines/errors.js'
import type { Interval } from '../klines/intervals.js'
import { parseStartDates, parseSymbols } from '../klines/lists.js'
import { SYMBOLS_PATH, startDatesPath, windowPath } from '../klines/paths.js'
import { type WindowRef, windowName } from '../klines/series.js'
import type { SymbolName } from '../klines/symbols.js'

/**
 * The largest window accepted, bytes, several times the 139,569 of the largest known: a body of 16 MiB can take hundreds of
 * megabytes when its rows are parsed.
 */
const MAX_WINDOW_BYTES = 1024 * 1024

/** A file of the service: its parsed value, its decoded bytes and its time. */
export interface Fetched<T> {
  readonly value: T
  readonly bytes: Buffer
  /** The earliest of Last-Modified, `servedMs` and this machine's clock, ms UTC. */
  readonly mtimeMs: number
  /** The Date of the response, or now if that is missing, ms UTC. */
  readonly servedMs: number
  /** How far the service's clock is ahead of this machine's, ms; negative when it is behind. */
  readonly skewMs: number
}

/** The operations of the klines service, as in its OpenAPI description, for all intervals. */
export class KlinesClient {
  constructor(
    readonly fetcher: RetryingFetcher,
    private readonly now: () => number = Date.now,
  ) {}

  /** getSymbols. Throws a `FetchError`, or `unreachable`. */
  symbols(signal: AbortSignal): Promise<Fetched<{ symbols: SymbolName[]; unknown: string[] }>> {
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
      path: windowPath(window),
      headers: conditional ? { 'if-modified-since': new Date(cachedMtimeMs).toUTCString() } : {},
      accept: response =>
        conditional && response.status === 304
          ? 'unmodified'
          : this.accept(response, bytes => parseWindow(bytes, window)),
      signal,
    })
  }

  private get<T>(path: string, parse: (bytes: Buffer) => T, signal: AbortSignal): Promise<Fetched<T>> {
    return this.fetcher.get({ path, accept: response => this.accept(response, parse), signal })
  }

  private accept<T>(response: WholeResponse, parse: (bytes: Buffer) => T): Fetched<T> {
    if (response.status !== 200) throw toStatusError(response)
    try {
      return { value: parse(response.body), bytes: response.body, ...this.parseTimes(response) }
    } catch (error) {
      if (!(error instanceof KlinesError)) throw error
      throw new FetchError('invalid', error.message, { notJson: error.data.kind === 'not_json', cause: error })
    }
  }

  private parseTimes({ headers }: WholeResponse): Pick<Fetched<unknown>, 'mtimeMs' | 'servedMs' | 'skewMs'> {
    const [modified, date] = [headers['last-modified'], headers.date].map(text => Date.parse(text ?? ''))
    const now = this.now()
    const servedMs = Number.isNaN(date) ? now : date
    // RFC 9111, 5.1: a cache on the way has had the response for so many seconds.
    const age = /^\d+$/.test(headers.age ?? '') ? Number(headers.age) : 0
    // A time in the future could make a window count as final before its end.
    const mtimeMs = Math.min(Number.isNaN(modified) ? servedMs : modified, servedMs, now)
    return { servedMs, mtimeMs, skewMs: servedMs + 1000 * age - now }
  }
}

function parseWindow(bytes: Buffer, window: WindowRef): KlineBatch {
  if (bytes.length <= MAX_WINDOW_BYTES) return decodeWindow(bytes, window)
  const reason = `the body is no list of rows: it has ${bytes.length} bytes, expected at most ${MAX_WINDOW_BYTES}`
  throw new KlinesError('bad_window', `${windowName(window)}: ${reason}`)
}

/** Converts a response whose status is not 200. */
function toStatusError({ status, body }: WholeResponse): FetchError {
  const text = parseErrorBody(body)?.message
  const message = `status ${status}${text ? `: ${text}` : ''}`
  if (isTransientStatus(status)) return new FetchError('transient', message, { status, unreachable: true })
  // The request had no range, and no other 1xx to 3xx fits it either.
  if (status < 400 || status === 416)
    return new FetchError('invalid', `${message}, which was not requested`, { status })
  return new FetchError('permanent', message, { status })
}
