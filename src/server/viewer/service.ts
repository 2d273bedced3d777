import type { Interval } from '../../candles/intervals.js'
import type { Series } from '../../candles/series.js'

/** What the server says about one series. */
export interface SeriesCoverage {
  /** Whether missing windows are downloaded on request. */
  readonly upstream: boolean
  /** Whether the mirror knows the symbol. */
  readonly known: boolean
  /** The present of the server, ms UTC. */
  readonly now: number
  /** Windows that the mirror lacks: requests for them fail without an upstream. */
  readonly missingStartDates: readonly string[]
  /** The first and last cached windows with candles, `YYYY-MM-DD`. */
  readonly firstStartDate?: string
  readonly lastStartDate?: string
}

/** What the server says about all series. */
export interface Coverage {
  readonly source: { readonly kind: 'sample' | 'service' | 'exchange' | 'unknown' }
  /** What `klines download SYMBOL -i INTERVAL` needs besides, to fill this mirror. */
  readonly downloadFlags: string
  readonly upstream: boolean
  readonly intervals: readonly Interval[]
  /** Those that the mirror has candles of come first. */
  readonly symbols: readonly string[]
  readonly series: readonly (Series & { readonly windows: number; readonly lastStartDate?: string })[]
}

/** The server has no such file, or cannot answer now. `status` is undefined when it could not be reached. */
export class ServiceError extends Error {
  constructor(
    message: string,
    readonly status?: number,
  ) {
    super(message)
  }
}

/** How long a service that limits requests is left alone when it does not say it, ms. */
const DEFAULT_PAUSE_MS = 5_000
/** The longest time until the next try, whatever the service says. */
const MAX_PAUSE_MS = 86_400_000
const TICK_MS = 250

/**
 * How long a service wants no request, ms: with 429, and with 503 that says it in Retry-After, in seconds or until a date; `now` is ms
 * UTC. Undefined for any other answer.
 */
export function findPause(status: number, retryAfter: string | null, now: number): number | undefined {
  if (status !== 429 && (status !== 503 || retryAfter === null)) return undefined
  const text = retryAfter?.trim() ?? ''
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now
  return Number.isNaN(ms) ? DEFAULT_PAUSE_MS : Math.max(1_000, Math.min(ms, MAX_PAUSE_MS))
}

/** A time in which the service wants no request. All requests wait for its end. */
export class RequestPause {
  /** Called with the seconds that are left, at least once for each, and with 0 at the end. */
  onTick: (seconds: number) => void = () => {}
  private untilTime = 0
  private counting: Promise<void> | undefined

  /** Begins a pause, or makes the one that is under way longer. */
  begin(ms: number): void {
    this.untilTime = Math.max(this.untilTime, Date.now() + ms)
    this.counting ??= this.count()
  }

  /** Ends the pause now. */
  end(): void {
    this.untilTime = 0
  }

  private async count(): Promise<void> {
    const left = () => Math.max(0, Math.ceil((this.untilTime - Date.now()) / 1_000))
    for (let seconds = left(); seconds > 0; seconds = left()) {
      this.onTick(seconds)
      await new Promise(resolve => setTimeout(resolve, TICK_MS))
    }
    this.counting = undefined
    this.onTick(0)
  }

  /** Resolves when there is no pause. Throws the reason of `signal` when that aborts. */
  async over(signal?: AbortSignal): Promise<void> {
    while (this.counting) {
      signal?.throwIfAborted()
      const aborted = new Promise<void>((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
      })
      await Promise.race([this.counting, aborted])
    }
    signal?.throwIfAborted()
  }
}

/** The pause of all requests while the service wants none. */
export const requestPause = new RequestPause()

/**
 * Reads a file of the server as text; where the service limits requests, again when it takes them. Throws `ServiceError`, and
 * `AbortError` when `signal` aborts.
 */
export async function readText(path: string, signal?: AbortSignal): Promise<string> {
  await requestPause.over(signal)
  let response: Response
  try {
    response = await fetch(path, { signal })
    if (response.ok) return await response.text()
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ServiceError('The server could not be reached.')
  }
  const pauseMs = findPause(response.status, response.headers.get('retry-after'), Date.now())
  if (pauseMs === undefined) throw new ServiceError(await errorMessage(response), response.status)
  requestPause.begin(pauseMs)
  return readText(path, signal)
}

/** The message of the server's error object. */
async function errorMessage(response: Response): Promise<string> {
  const body = (await response.json().catch(() => undefined)) as { message?: unknown } | undefined
  return typeof body?.message === 'string' ? body.message : `The server answered with status ${response.status}.`
}

export async function readCoverage(signal?: AbortSignal): Promise<Coverage> {
  return JSON.parse(await readText('/coverage.json', signal))
}

export async function readSeriesCoverage({ symbol, interval }: Series, signal: AbortSignal): Promise<SeriesCoverage> {
  return JSON.parse(await readText(`/coverage/${interval}/${encodeURIComponent(symbol)}.json`, signal))
}
