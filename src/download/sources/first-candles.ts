import type { ExchangeClient } from '../../exchange-client/client.js'
import { InvalidSymbolError } from '../../exchange-client/errors.js'
import { FetchError } from '../../http/fetch-error.js'
import type { Fetched } from '../../http/fetched.js'
import { checkLimits, RETRY_POLICY } from '../../http/retry.js'
import type { NetworkActivity } from '../../http/retrying-fetcher.js'
import { systemClock } from '../../http/system-clock.js'
import type { KlineBatch } from '../../klines/batch/kline-batch.js'
import { decodeWindow } from '../../klines/batch/window-codec.js'
import { isKlinesError } from '../../klines/errors.js'
import { HOUR_MS, MINUTE_MS } from '../../klines/intervals.js'
import { type Series, seriesName, type WindowRef } from '../../klines/series.js'
import { trimPeriod } from '../../klines/text.js'
import type { TimeRange } from '../../klines/time-range.js'
import { exchangeStartDates, parseDate, startDateAt, windowSpan } from '../../klines/windows.js'
import type { Mirror } from '../../mirror/mirror.js'
import { planWindows } from '../plan.js'
import type { ServiceSourceOptions, SourceOptions } from './source-options.js'
import type { WindowFailure } from './window-source.js'

const EMPTY_WINDOW = Buffer.from('[]')

/** The window in which the first candle opens. */
interface FirstWindow {
  readonly startDate: string
  /** This machine's clock, ms UTC. */
  readonly requestedMs: number
  readonly fetched: Promise<Fetched<KlineBatch>>
}

/**
 * Since when each series of an exchange has candles: the mirror knows it, or one request a series. A window counts as empty only
 * when the window of the first candle has none before it either: one wrong answer must not cost a whole history.
 */
export class FirstCandles {
  /** Ms UTC. */
  private readonly found = new Map<string, number>()
  /** Until when a series counts as one without a candle, ms UTC: its windows are requested. */
  private readonly withoutCandles = new Map<string, number>()
  private readonly requests = new Map<string, Promise<void>>()
  /** The startDate of each series' first cached window with candles. */
  private readonly cached = new Map<string, string>()
  private readonly firstWindows = new Map<string, FirstWindow>()
  /** The series whose first window in the mirror has no earlier candle. */
  private readonly confirmed = new Set<string>()

  constructor(
    private readonly exchange: ExchangeClient,
    private readonly mirror: Mirror,
    private readonly options: Pick<ServiceSourceOptions, 'signal' | 'now' | 'refresh'>,
  ) {}

  /** When the first candle of a series opens, ms UTC, if it was requested. */
  openTime(series: Series): number | undefined {
    return this.found.get(seriesName(series))
  }

  /** Whether a window ends before the first candle that the exchange names; undefined when that is not known yet. */
  isBefore(window: WindowRef): boolean | undefined {
    const name = seriesName(window)
    const openTime = this.found.get(name)
    if (openTime !== undefined) return windowSpan(window).endTime <= openTime
    if ((this.withoutCandles.get(name) ?? 0) > this.options.now()) return false
    const first = this.firstCached(window)
    return first !== undefined && first <= window.startDate ? false : undefined
  }

  /** Whether a window is certainly empty, with up to two requests a series. Throws what `ExchangeClient.window` throws. */
  async isEmpty(window: WindowRef): Promise<boolean> {
    if (this.isBefore(window) === undefined) await this.request(window)
    if (!this.isBefore(window)) return false
    await this.confirm(window)
    return true
  }

  /** The file of a window that is certainly empty. Throws what `isEmpty` throws. */
  async emptyWindow(window: WindowRef): Promise<Fetched<KlineBatch> | undefined> {
    if (!(await this.isEmpty(window))) return undefined
    const times = await this.exchange.times(this.options.signal)
    return { value: decodeWindow(EMPTY_WINDOW, window), bytes: EMPTY_WINDOW, ...times }
  }

  /**
   * Requests the first candle of a series, unless the mirror has candles of it and every window of the range before them. Throws
   * `InvalidSymbolError`.
   */
  async check(series: Series, range: TimeRange): Promise<void> {
    const first = this.firstCached(series)
    if (first === undefined || this.needsBefore(series, first, range)) await this.request(series)
  }

  /** Whether a window of the range that starts before `first` will be downloaded. */
  private needsBefore(series: Series, first: string, range: TimeRange): boolean {
    const firstTime = parseDate(first)
    if (range.fromTime >= firstTime) return false
    const cached = new Set(this.options.refresh ? [] : this.mirror.contents.startDates(series))
    const windows = planWindows(series, exchangeStartDates(series.interval, firstTime), range, firstTime)
    return windows.some(({ startDate }) => startDate < first && !cached.has(startDate))
  }

  /** The window of the first candle, if it was just requested on the way: once, because it may change. */
  async takeFetched(window: WindowRef): Promise<Fetched<KlineBatch> | undefined> {
    const name = seriesName(window)
    const first = this.firstWindows.get(name)
    if (first?.startDate !== window.startDate || this.options.now() - first.requestedMs > MINUTE_MS) return undefined
    const fetched = await first.fetched
    this.firstWindows.set(name, { ...first, startDate: '' })
    return fetched
  }

  private firstCached(series: Series): string | undefined {
    const name = seriesName(series)
    const first = this.cached.get(name) ?? this.mirror.contents.firstPopulated(series)
    if (first !== undefined) this.cached.set(name, first)
    return first
  }

  /** Simultaneous callers share a request. */
  private request(series: Series): Promise<void> {
    const name = seriesName(series)
    const shared = this.requests.get(name)
    if (shared) return shared
    const request = this.fetch(series).finally(() => this.requests.delete(name))
    this.requests.set(name, request)
    return request
  }

  private async fetch(series: Series): Promise<void> {
    const { now, signal } = this.options
    const openTime = await this.exchange.firstOpenTime(series, signal)
    if (openTime === undefined) this.withoutCandles.set(seriesName(series), now() + HOUR_MS)
    else this.found.set(seriesName(series), openTime)
  }

  /** Compares the first candle with its window. Throws a `FetchError` when the window has an earlier one. */
  private async confirm({ symbol, interval }: Series): Promise<void> {
    const name = seriesName({ symbol, interval })
    if (this.confirmed.has(name)) return
    const openTime = this.found.get(name) as number
    const startDate = startDateAt(interval, openTime)
    const cached = this.mirror.windows.read({ symbol, interval, startDate })
    if (cached.state === 'cached' && cached.batch.length > 0 && cached.batch.openTime(0) >= openTime) {
      this.confirmed.add(name)
      return
    }
    const first = this.firstWindows.get(name) ?? {
      startDate,
      requestedMs: this.options.now(),
      fetched: this.exchange.window({ symbol, interval, startDate }, undefined, this.options.signal),
    }
    this.firstWindows.set(name, first)
    try {
      const { value } = await first.fetched
      if (value.length === 0 || value.openTime(0) >= openTime) return
      const [named, earlier] = [openTime, value.openTime(0)].map(time => new Date(time).toISOString())
      throw new FetchError('invalid', `the exchange named ${named} as the first candle, and has one of ${earlier}`)
    } catch (error) {
      this.firstWindows.delete(name)
      throw error
    }
  }
}

/** Windows that a mirror lacks: those before the first candle of their series, and the others. */
export interface LeadingWindows {
  readonly empty: readonly WindowRef[]
  readonly failures: readonly WindowFailure[]
}

/**
 * Finds which of the windows that a mirror of the exchange lacks end before the first candle of their series, with a request a
 * series, unless the mirror has candles before. When the exchange cannot be reached, that is why they are missing.
 */
export async function findLeadingWindows(
  mirror: Mirror,
  missing: readonly WindowRef[],
  options: Omit<SourceOptions, 'mirror'>,
): Promise<LeadingWindows> {
  const { baseUrl, signal = new AbortController().signal } = options
  checkLimits(options)
  const now = options.now === undefined ? systemClock.now : () => options.now as number
  const { openExchangeClient } = await import('../../exchange-client/client.js')
  const host = { baseUrl, concurrency: 1, policy: RETRY_POLICY, limits: options, now }
  const onActivity = (activity: NetworkActivity) => options.onEvent?.({ type: 'network', ...activity })
  // It warns of names alone, and none are listed.
  const exchange = await openExchangeClient({ ...host, onActivity, warn: () => {} })
  const firstCandles = new FirstCandles(exchange, mirror, { signal, now })
  const [empty, failures]: [WindowRef[], WindowFailure[]] = [[], []]
  /** Why no answer came: for one series, and for every other one after it. */
  const reasons = new Map<string, string>()
  let unreachable: string | undefined
  const findReason = async (window: WindowRef): Promise<string | undefined> => {
    const name = seriesName(window)
    const isBefore = firstCandles.isBefore(window)
    const reason = reasons.get(name) ?? unreachable
    if (isBefore === undefined && reason !== undefined) return reason
    try {
      return (await firstCandles.isEmpty(window)) ? undefined : NOT_CACHED
    } catch (error) {
      const text = `not in the mirror, and the first candle of its series could not be requested: ${describe(error)}`
      if (error instanceof InvalidSymbolError) reasons.set(name, text)
      else unreachable = text
      return text
    }
  }
  try {
    for (const window of missing) {
      const reason = await findReason(window)
      if (reason === undefined) empty.push(window)
      else failures.push({ window, status: 'failed', reason })
    }
  } finally {
    await exchange.fetcher.close()
  }
  return { empty, failures }
}

export const NOT_CACHED = 'not in the mirror'

/** What is wrong with a request, as part of a sentence. Throws what ends the run: a ban, a refusal, an abort. */
function describe(error: unknown): string {
  // A ban or a refusal ends the run; too many faults in a row have a cause.
  const isFault = error instanceof FetchError || (isKlinesError(error, 'unreachable') && error.cause !== undefined)
  if (!isFault) throw error
  return trimPeriod(error.message)
}
