import { KlinesError } from '../candles/errors.js'
import { parseStartDates, parseSymbols } from '../candles/lists.js'
import { SYMBOLS_PATH, startDatesPath, windowPath } from '../candles/paths.js'
import { firstStartDate, parseDate } from '../candles/windows.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { decodeWindow } from '../rows/window-codec.js'
import { FetchError, toStatusError } from './fetch-error.js'
import type { Fetcher } from './fetcher.js'
import type { AnswerTimes, Fetched, FetchedList, Source, Unchanged } from './source.js'
import type { WholeResponse } from './transport.js'

/** How a source knows the present. */
export interface SourceClock {
  /** This machine's present, ms UTC. */
  readonly now: () => number
  /** Called with each answer, whose clock may differ from this machine's. */
  readonly observe: (skewMs: number) => void
}

/** Where the files of a tree come from. */
export type Files = Pick<Fetcher, 'name' | 'requests' | 'bytes' | 'stopReason' | 'get' | 'close'>

export function staticSource(fetcher: Files, { now, observe }: SourceClock): Source {
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
        return { names, bytes: response.body, served: time + skewMs, asked: parseTimes(response, time).asked }
      },
      signal,
    })
  return {
    name: fetcher.name,
    rules: { kind: 'static' },
    traffic: fetcher,
    now: async () => now(),
    symbols: signal => list(SYMBOLS_PATH, parseSymbols, signal),
    startDates: (interval, signal) => list(startDatesPath(interval), bytes => parseStartDates(bytes, interval), signal),
    fetch: (window, cached, signal) => {
      // Where the service had no Last-Modified, but a Date, there is no condition.
      const since = cached?.rendered === cached?.asked ? undefined : cached?.rendered
      return fetcher.get<Fetched | Unchanged>({
        path: encodeURI(windowPath(window)),
        headers: since === undefined ? {} : { 'if-modified-since': new Date(since).toUTCString() },
        accept: response => {
          observe(clockSkew(response, now()))
          if (since !== undefined && response.status === 304) return parseTimes(response, now())
          if (response.status !== 200) throw toStatusError(response)
          const batch = parseBody(response, body => decodeWindow(body, window))
          const times = parseTimes(response, now(), earliestTime(batch))
          return { ...times, bytes: response.body, batch }
        },
        signal,
      })
    },
    isExchangeHost: () => {
      const accept = ({ status, body }: WholeResponse) => status === 200 && body.toString('utf8').startsWith('{')
      return fetcher.get({ path: 'api/v3/ping', accept, signal: new AbortController().signal }).catch(() => false)
    },
    cost: (missing, open = []) => ({ requests: missing.length + open.length, limitMs: 0 }),
    close: () => fetcher.close(),
  }
}

/** Parses a body; what the parser throws on purpose makes the answer invalid. */
export function parseBody<T>({ body }: WholeResponse, parse: (bytes: Buffer) => T): T {
  try {
    return parse(body)
  } catch (error) {
    if (!(error instanceof KlinesError)) throw error
    throw new FetchError('invalid', error.message, { notJson: error.data.kind === 'not_json', cause: error })
  }
}

/** When the file of a window can have been made at the earliest, ms UTC: reproducible images give all files one old time. */
function earliestTime(batch: KlineBatch): number {
  return batch.length === 0 ? parseDate(firstStartDate('1m')) : batch.closeTime(batch.length - 1)
}

/**
 * The times of an answer, none later than this machine's present: one in the future could make a window final before its
 * end. A Last-Modified before `earliest` is none.
 */
function parseTimes({ headers }: WholeResponse, now: number, earliest = -Infinity): AnswerTimes {
  const [modified, date] = [headers['last-modified'], headers.date].map(text => Date.parse(text ?? ''))
  const asked = Number.isNaN(date) ? now : Math.min(date, now)
  if (modified >= earliest) return { rendered: Math.min(modified, asked), asked }
  return { rendered: Number.isNaN(date) ? undefined : asked, asked }
}

/** How far the clock of a service is ahead of this machine's, ms; 0 when the answer does not say. */
export function clockSkew({ headers }: WholeResponse, now: number): number {
  const date = Date.parse(headers.date ?? '')
  // RFC 9111, 5.1: a cache on the way has had the answer for so many seconds.
  const age = Number(headers.age) || 0
  return Number.isNaN(date) ? 0 : date + 1000 * age - now
}
