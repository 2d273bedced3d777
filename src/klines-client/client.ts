import { parseErrorMessage } from '../http/error-body.js'
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
 * Most bytes that a window is believed to have, several times the 139,569 of the largest: what the caps let through can take
 * hundreds of megabytes to be read as rows.
 */
const MAX_WINDOW_BYTES = 1024 * 1024

/** A file of the service: what it says, its bytes (decoded, as received) and its time. */
export interface Fetched<T> {
  readonly value: T
  readonly bytes: Buffer
  /** Last-Modified, else when it was served; never later than that; ms. */
  readonly mtimeMs: number
  /** The answer's Date, else now; ms. */
  readonly servedMs: number
}

/** The operations of the klines service (service.md, endpoints 1 to 7 and the same form for all intervals). */
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
   * A window; `unmodified` when it is not newer than `heldMtimeMs`. The body is believed only when the codec accepts it:
   * anything else is a failed attempt.
   */
  window(
    window: WindowRef,
    heldMtimeMs: number | undefined,
    signal: AbortSignal,
  ): Promise<Fetched<KlineBatch> | 'unmodified'> {
    const conditional = heldMtimeMs !== undefined
    return this.fetcher.get<Fetched<KlineBatch> | 'unmodified'>({
      path: windowPath(window),
      headers: conditional ? { 'if-modified-since': new Date(heldMtimeMs).toUTCString() } : {},
      accept: reply => {
        if (conditional && reply.status === 304) return 'unmodified'
        return this.accept(reply, bytes => parseWindow(bytes, window))
      },
      signal,
    })
  }

  private get<T>(path: string, parse: (bytes: Buffer) => T, signal: AbortSignal): Promise<Fetched<T>> {
    return this.fetcher.get({
      path,
      accept: reply => this.accept(reply, parse),
      signal,
    })
  }

  private accept<T>(reply: WholeResponse, parse: (bytes: Buffer) => T): Fetched<T> {
    if (reply.status !== 200) throw statusError(reply)
    try {
      return { value: parse(reply.body), bytes: reply.body, ...this.parseTimes(reply) }
    } catch (error) {
      if (!(error instanceof KlinesError)) throw error
      throw new FetchError('invalid', error.message, {
        notJson: error.data.kind === 'not_json',
        cause: error,
      })
    }
  }

  private parseTimes({ headers }: WholeResponse): { mtimeMs: number; servedMs: number } {
    const [modified, date] = [headers['last-modified'], headers.date].map(text => Date.parse(text ?? ''))
    const servedMs = Number.isNaN(date) ? this.now() : date
    // A file from the future would count as seen after its window's end, and so as final, when it was not.
    return { servedMs, mtimeMs: Number.isNaN(modified) ? servedMs : Math.min(modified, servedMs) }
  }
}

function parseWindow(bytes: Buffer, window: WindowRef): KlineBatch {
  if (bytes.length <= MAX_WINDOW_BYTES) return decodeWindow(bytes, window)
  const what = `the body is no list of rows: it has ${bytes.length} bytes, expected at most ${MAX_WINDOW_BYTES}`
  throw new KlinesError('bad_window', `${windowName(window)}: ${what}`)
}

/** What a status other than 200 means. */
function statusError({ status, body }: WholeResponse): FetchError {
  const said = parseErrorMessage(body)
  const message = `status ${status}${said ? `: ${said}` : ''}`
  if (isTransientStatus(status)) return new FetchError('transient', message, { status, unreachable: true })
  // 1xx to 3xx that nobody asked for, and a range we did not ask for: the answer makes no sense.
  if (status < 400 || status === 416)
    return new FetchError('invalid', `${message}, which was not asked for`, {
      status,
    })
  return new FetchError('permanent', message, { status })
}
