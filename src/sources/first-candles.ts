import { KlinesError } from '../candles/errors.js'
import { parseList } from '../candles/lists.js'
import { type Series, seriesName, type WindowRef, windowOf } from '../candles/series.js'
import { startDateAt, windowSpan } from '../candles/windows.js'
import { decodeWindow } from '../rows/window-codec.js'
import type { ExchangeAnswers } from './exchange-answers.js'
import { firstCandleCall } from './exchange-api.js'
import { FetchError } from './fetch-error.js'
import type { Fetched } from './source.js'

/** The first candle of a series. Times are ms UTC. */
interface FirstCandle {
  readonly openTime: number
  /** The window in which it opens, once that was fetched to confirm it, and this machine's present then. */
  window?: Promise<Fetched> | undefined
  fetchedAt: number
}

/** The first candles of the exchange's series, each asked for once: windows before them are empty. */
export class FirstCandles {
  private readonly found = new Map<string, Promise<FirstCandle | undefined>>()

  constructor(private readonly answers: ExchangeAnswers) {}

  /** When the first candle of a series opens, ms UTC; undefined when it has none. */
  async time(series: Series, signal: AbortSignal): Promise<number | undefined> {
    const name = seriesName(series)
    const found = this.found.get(name) ?? this.find(series, signal)
    this.found.set(name, found)
    found.catch(() => this.found.delete(name))
    return (await found)?.openTime
  }

  /** The same without a call; undefined where nobody has asked. */
  known(series: Series): Promise<FirstCandle | undefined> | undefined {
    return this.found.get(seriesName(series))?.catch(() => undefined)
  }

  /** A window that is empty, or was fetched to confirm the first candle. Undefined for any other one. */
  async fetch(window: WindowRef, signal: AbortSignal): Promise<Fetched | undefined> {
    const first = await this.known(window)
    if (first === undefined) return undefined
    if (windowSpan(window).endTime <= first.openTime) {
      const { rendered, asked } = await this.confirm(first, window, signal)
      const bytes = Buffer.from('[]')
      return { bytes, batch: decodeWindow(bytes, window), rendered, asked }
    }
    if (startDateAt(window.interval, first.openTime) !== window.startDate) return undefined
    const fetched = await first.window
    // Once, and soon, because it may change.
    first.window = undefined
    return this.answers.isPresent(first.fetchedAt) ? fetched : undefined
  }

  private async find(series: Series, signal: AbortSignal): Promise<FirstCandle | undefined> {
    const { value: openTime } = await this.answers.get(
      firstCandleCall(this.answers.market, series),
      parseFirstOpenTime,
      signal,
    )
    return openTime === undefined ? undefined : { openTime, fetchedAt: -Infinity }
  }

  /**
   * The window of a first candle: one wrong answer must not cost a whole history. Throws an invalid `FetchError` where the
   * window has an earlier candle.
   */
  private async confirm(first: FirstCandle, series: Series, signal: AbortSignal): Promise<Fetched> {
    const { openTime } = first
    if (first.window === undefined) {
      first.fetchedAt = this.answers.clock.now()
      first.window = this.answers.window(windowOf(series, startDateAt(series.interval, openTime)), signal)
    }
    first.window.catch(() => {
      first.window = undefined
    })
    const window = await first.window
    const earliest = window.batch.firstOpenTime ?? openTime
    if (earliest >= openTime) return window
    const [named, earlier] = [openTime, earliest].map(time => new Date(time).toISOString())
    throw new FetchError('invalid', `the exchange named ${named} as the first candle, and has one of ${earlier}`)
  }
}

/** The open time of the one candle of an answer of `servedMs`, ms UTC: a later one would make all windows empty. */
function parseFirstOpenTime(bytes: Buffer, servedMs: number): number | undefined {
  const rows = parseList(bytes, 'The answer for the first candle')
  if (rows.length === 0) return undefined
  const [row] = rows
  const openTime: unknown = Array.isArray(row) ? row[0] : undefined
  const isTime = typeof openTime === 'number' && Number.isSafeInteger(openTime)
  if (rows.length === 1 && isTime && openTime <= servedMs) return openTime
  const found = `${rows.length} rows, from ${Number(openTime)} on`
  throw new KlinesError('bad_window', `the answer for the first candle has ${found}; expected one, in the past`)
}
