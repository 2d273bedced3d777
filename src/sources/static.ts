import { parseStartDates, parseSymbols } from '../candles/lists.js'
import { SYMBOLS_PATH, startDatesPath, windowPath } from '../candles/paths.js'
import { decodeWindow } from '../rows/window-codec.js'
import { clockSkew, parseBody, parseTimes, toStatusError } from './answer.js'
import type { Fetcher } from './fetcher.js'
import type { Fetched, FetchedList, Source, Unchanged } from './source.js'

/** How a source knows the present. */
export interface SourceClock {
  /** This machine's present, ms UTC. */
  readonly now: () => number
  /** Called with each answer, whose clock may differ from this machine's. */
  readonly observe: (skewMs: number) => void
}

/** A static klines service: the operations of its OpenAPI description, for all intervals. */
export function staticSource(fetcher: Fetcher, { now, observe }: SourceClock): Source {
  const list = (path: string, parse: (bytes: Buffer) => string[], signal: AbortSignal): Promise<FetchedList> =>
    fetcher.get({
      path,
      accept: response => {
        if (response.status !== 200) throw toStatusError(response)
        // Read once: a clock may jump meanwhile.
        const time = now()
        const skewMs = clockSkew(response, time)
        const names = parseBody(response, parse)
        observe(skewMs)
        return { names, bytes: response.body, served: time + skewMs, ...parseTimes(response, time) }
      },
      signal,
    })
  return {
    name: fetcher.name,
    rules: { kind: 'static' },
    traffic: fetcher,
    get stopReason() {
      return fetcher.stopReason
    },
    now: async () => now(),
    symbols: signal => list(SYMBOLS_PATH, parseSymbols, signal),
    startDates: (interval, signal) => list(startDatesPath(interval), bytes => parseStartDates(bytes, interval), signal),
    fetch: (window, since, signal) =>
      fetcher.get<Fetched | Unchanged>({
        path: encodeURI(windowPath(window)),
        headers: since === undefined ? {} : { 'if-modified-since': new Date(since).toUTCString() },
        accept: response => {
          const times = parseTimes(response, now())
          observe(clockSkew(response, now()))
          if (since !== undefined && response.status === 304) return times
          if (response.status !== 200) throw toStatusError(response)
          return { ...times, bytes: response.body, batch: parseBody(response, body => decodeWindow(body, window)) }
        },
        signal,
      }),
    cost: () => ({ requests: 1, limitMs: 0 }),
    close: () => fetcher.close(),
  }
}
