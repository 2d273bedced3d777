import { type Market, marketOf, SAMPLE } from '../candles/base-url.js'
import type { Interval } from '../candles/intervals.js'
import type { Series, WindowRef } from '../candles/series.js'
import type { RenderedWindow } from '../rows/closed-rows.js'

/**
 * The kind of a tree. `static`: a service renders files when it likes, and may deploy them again as they are. `exchange`: each answer is
 * made anew. `fixed`: files that stay as they are, of the sample and of bare folders.
 */
export interface Rules {
  readonly kind: 'static' | 'exchange' | 'fixed'
  /** Of the exchange. */
  readonly market?: Market
}

/** What is true of the windows of a source; undefined: a bare folder. */
export function rulesOf(name: string | undefined): Rules {
  const market = marketOf(name)
  if (market) return { kind: 'exchange', market }
  return { kind: name === undefined || name === SAMPLE ? 'fixed' : 'static' }
}

/** When an answer was made, ms UTC, at the latest this machine's present. */
export interface AnswerTimes {
  /** The Last-Modified of the file, else the Date of the answer; undefined where it has neither. */
  readonly rendered?: number | undefined
  /** The Date of the answer, else this machine's present. */
  readonly asked: number
}

/** A window as a source has it. `bytes` are those of the file to store. */
export interface Fetched extends AnswerTimes, RenderedWindow {}

export type Unchanged = AnswerTimes & { readonly bytes?: undefined }

/** A list as a source has it, and its file. */
export interface FetchedList extends Pick<AnswerTimes, 'asked'> {
  readonly bytes: Buffer
  readonly names: string[]
  /** The present by the clock of the source, ms UTC. */
  readonly served: number
}

/** A settlement of a contract: its time, ms UTC, and texts as the exchange has them. */
export interface FundingRate {
  readonly symbol: string
  readonly funding_time: number
  readonly funding_rate: string
  /** Empty in the first years. */
  readonly mark_price: string
  /** From the row before, of the first row to the next; null for one alone. */
  readonly interval_hours: number | null
}

/** What windows take: requests, and the time that a limit of the source makes of them, ms. */
export interface Cost {
  readonly requests: number
  readonly limitMs: number
}

/** What the archive of the exchange gave. */
export interface ArchiveReport {
  /** How many windows came from it. */
  readonly windows: number
  /** Windows of its months that the exchange's REST API had to give, and why. */
  readonly refused: readonly (WindowRef & { readonly reason: string })[]
}

export interface SourceArchive {
  /** Names windows of a series that a run is going to fetch in this order: no others come from the archive. */
  expect(windows: readonly WindowRef[]): void
  /** Undefined while none is expected. */
  readonly report: ArchiveReport | undefined
}

/**
 * Where windows come from. Methods throw a `FetchError` for one file that cannot be had, `unreachable` or `rate_limited` when no other one
 * can either, and the signal's reason when it aborts.
 */
export interface Source {
  /** `https://example.com/klines`, `binance`, `sample`. */
  readonly name: string
  readonly rules: Rules
  /** Requests that were sent, bytes of bodies over the wire, and the error after which none is sent any more, for now. */
  readonly traffic: { readonly requests: number; readonly bytes: number; readonly stopReason: Error | undefined }
  /** The present, ms UTC, by the clock that decides which windows have started. */
  now(signal: AbortSignal): Promise<number>
  symbols(signal: AbortSignal): Promise<FetchedList>
  startDates(interval: Interval, signal: AbortSignal): Promise<FetchedList>
  /** `cached`: the answer that the cached version came with; a source may say that it is unchanged, or ignore it. */
  fetch(window: WindowRef, cached: AnswerTimes | undefined, signal: AbortSignal): Promise<Fetched | Unchanged>
  /** Of the exchange: the cached rows of a window, and those behind them, the only ones that it asks for. */
  fetchOn?(window: WindowRef, cached: RenderedWindow, signal: AbortSignal): Promise<Fetched>
  /** Of the exchange: when the first candle of a series opens, ms UTC, if any. Windows before it are empty and need no request. */
  firstCandle?(series: Series, signal: AbortSignal): Promise<number | undefined>
  /** Of USD-M futures: the settlements of a contract. */
  funding?(symbol: string, fromTime: number, toTime: number, signal: AbortSignal): Promise<FundingRate[]>
  /** What windows of a series take that are missing, and others that are `open`. */
  cost(missing: readonly WindowRef[], open?: readonly WindowRef[]): Cost
  /** Of the exchange: its zips of 1m, 3m and 5m candles. */
  readonly archive?: SourceArchive | undefined
  /** Of a static service, whether it is a host of the exchange: such a one has no lists. */
  isExchangeHost?(): Promise<boolean>
  close(): Promise<void>
}
