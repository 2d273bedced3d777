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

/** Until when the service behind the server wants no request, ms UTC. */
let pausedUntil = 0

export const pause = {
  /** Called with the seconds that are left of a pause; 0 when there is none. */
  onTick: (_seconds: number): void => {},
}

async function pauseOver(): Promise<void> {
  for (;;) {
    const seconds = Math.max(0, Math.ceil((pausedUntil - Date.now()) / 1_000))
    pause.onTick(seconds)
    if (seconds === 0) return
    await new Promise(resolve => setTimeout(resolve, 250))
  }
}

/** Reads a file of the server; after a 503 with Retry-After again when that is over. Throws `ServiceError`, and the reason of `signal`. */
export async function readText(path: string, signal?: AbortSignal): Promise<string> {
  await pauseOver()
  signal?.throwIfAborted()
  let response: Response
  try {
    response = await fetch(ROOT + path, { signal })
    if (response.ok) return await response.text()
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ServiceError('The server could not be reached.')
  }
  const { status } = response
  const seconds = Number(response.headers.get('retry-after'))
  if (status !== 503 || !(seconds > 0)) throw new ServiceError(await errorMessage(response), status)
  pausedUntil = Math.max(pausedUntil, Date.now() + seconds * 1_000)
  return readText(path, signal)
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
