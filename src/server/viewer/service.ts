import type { Interval } from '../../candles/intervals.js'
import type { Series } from '../../candles/series.js'

/** The path of the server's root: a proxy in front of it may have its own path before it. */
export const ROOT = 'document' in globalThis ? new URL('..', import.meta.url).pathname : '/'

/** What the server says about one series. `upstream`: whether missing windows are downloaded on request. */
export interface SeriesCoverage {
  readonly upstream: boolean
  readonly known: boolean
  /** The interval that the mirror has of the symbol when it lacks the requested one, whose candles can be made of it. */
  readonly madeOf?: Interval
  /** The present of the server, ms UTC. */
  readonly now: number
  /** Windows that the mirror lacks between its first and its last candle. */
  readonly missingStartDates: readonly string[]
  readonly firstOpenTime?: number
  readonly lastOpenTime?: number
}

/** What the server says about all series. `downloadFlags`: what `klines download` needs to fill this mirror. */
export interface Coverage {
  readonly source: { readonly kind: 'sample' | 'service' | 'exchange' | 'unknown' }
  readonly downloadFlags: string
  readonly upstream: boolean
  readonly intervals: readonly Interval[]
  readonly symbols: readonly string[]
  readonly series: readonly (Series & { readonly lastOpenTime?: number })[]
}

/** `status` is undefined when the server could not be reached. */
export class ServiceError extends Error {
  constructor(
    message: string,
    readonly status?: number,
  ) {
    super(message)
  }
}

/** Reads a file of the server. Throws `ServiceError`, and the reason of `signal`. */
export async function readText(path: string, signal?: AbortSignal): Promise<string> {
  signal?.throwIfAborted()
  let response: Response
  try {
    response = await fetch(ROOT + path, { signal })
    if (response.ok) return await response.text()
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ServiceError('The server could not be reached.')
  }
  throw new ServiceError(await errorMessage(response), response.status)
}

async function errorMessage(response: Response): Promise<string> {
  const body = (await response.json().catch(() => undefined)) as { message?: unknown } | undefined
  return typeof body?.message === 'string' ? body.message : `The server answered with status ${response.status}.`
}

export async function readCoverage(signal?: AbortSignal): Promise<Coverage> {
  return JSON.parse(await readText('coverage.json', signal))
}

export async function readSeriesCoverage({ symbol, interval }: Series, signal: AbortSignal): Promise<SeriesCoverage> {
  return JSON.parse(await readText(`coverage/${interval}/${encodeURIComponent(symbol)}.json`, signal))
}
