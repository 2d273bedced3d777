import type { ServiceSource } from '../../download/service-source.js'
import { FetchError } from '../../http/fetch-error.js'
import { RETRY_POLICY, type RetryPolicy } from '../../http/retry.js'
import { isKlinesError } from '../../klines/errors.js'
import type { TreeEntry } from '../../klines/paths.js'
import { HttpError, plainError } from '../http/error.js'

/** A client waits: two tries, and no pause that the service asks for is waited out; it is handed on instead. */
export const UPSTREAM_POLICY: RetryPolicy = {
  ...RETRY_POLICY,
  tries: 2,
  invalidTries: 1,
  attemptMs: 5_000,
  fileMs: 10_000,
  maxRetryAfterMs: 0,
}

/** Opens the service through its mirror; done again when it was given up. */
export type OpenSource = () => Promise<ServiceSource>

/**
 * The service behind a server: brings files into the mirror, each once at a time however many clients wait for it, and
 * knows when the service asked to be left alone.
 */
export class Upstream {
  private opened: Promise<ServiceSource> | undefined
  private readonly underWay = new Map<string, Promise<void>>()
  private quietUntil = 0

  constructor(
    private readonly open: OpenSource,
    private readonly now: () => number = Date.now,
  ) {}

  /**
   * Brings the present version of a file into the mirror. Throws an `HttpError` when that cannot be done: 404 the service
   * has none, 502 it answered nonsense or not at all, 503 it wants to be left alone, 504 it took too long.
   */
  fetch(path: string, entry: TreeEntry): Promise<void> {
    const shared = this.underWay.get(path)
    if (shared) return shared
    const started = this.request(entry).finally(() => this.underWay.delete(path))
    this.underWay.set(path, started)
    return started
  }

  /** Opens the source now, so that what is wrong with it shows at once. Throws what `open` throws. */
  async start(): Promise<void> {
    await this.source()
  }

  async close(): Promise<void> {
    const source = await this.opened?.catch(() => undefined)
    await source?.close()
  }

  private async request(entry: TreeEntry): Promise<void> {
    const waitMs = this.quietUntil - this.now()
    if (waitMs > 0) throw serviceUnavailable(waitMs)
    try {
      await fetchEntry(await this.source(), entry)
    } catch (error) {
      if (isKlinesError(error, 'rate_limited')) this.quietUntil = Date.parse(String(error.data.until))
      throw toHttpError(error, this.quietUntil - this.now())
    }
  }

  /** The source in use; a new one when that has given the service up, which it does for good. */
  private async source(): Promise<ServiceSource> {
    const before = this.opened
    const source = await before?.catch(() => undefined)
    if (source && !source.service.fetcher.hasStopped) return source
    if (this.opened === before) this.opened = this.open()
    return this.opened as Promise<ServiceSource>
  }
}

async function fetchEntry(source: ServiceSource, entry: TreeEntry): Promise<void> {
  if (entry.kind === 'symbols') await source.symbols()
  else if (entry.kind === 'startDates') await source.startDates(entry.interval)
  else await source.fetchWindow(entry.window, source.readCached(entry.window))
}

/** What a client is told of a failure; what is no failure of the service stays as it is. */
function toHttpError(error: unknown, quietMs: number): unknown {
  if (isKlinesError(error, 'rate_limited')) return serviceUnavailable(quietMs)
  // A list that names nothing this version knows: the one before is served, with this as a warning.
  if (isKlinesError(error, 'bad_list') && error.cause === undefined) return new HttpError(502, error.message)
  const failure = error instanceof FetchError ? error : (error as Error).cause
  if (!(failure instanceof FetchError)) return isKlinesError(error, 'unreachable') ? plainError(502) : error
  if (failure.status === 404) return new HttpError(404, 'The service has no such file.')
  if (failure.timedOut) return new HttpError(504, 'The service behind this server did not answer in time.')
  return new HttpError(502, `The service behind this server could not be had: ${failure.message}.`)
}

function serviceUnavailable(waitMs: number): HttpError {
  const seconds = String(Math.max(1, Math.ceil(waitMs / 1000)))
  const message = 'The service behind this server asks to be left alone for a while.'
  return new HttpError(503, message, { headers: { 'retry-after': seconds } })
}
