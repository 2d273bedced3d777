import type { Interval } from '../../../../klines/intervals.js'
import { startDatesPath } from '../../../../klines/paths.js'
import type { Series } from '../../../../klines/series.js'
import { findPause, RequestPause } from './request-pause.js'

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

export async function readStartDates(interval: Interval, signal: AbortSignal): Promise<string[]> {
  return JSON.parse(await readText(`/${startDatesPath(interval)}`, signal))
}
