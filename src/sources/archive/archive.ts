import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { KlineRow } from '../../candles/columns.js'
import { isKlinesError } from '../../candles/errors.js'
import { DAY_MS } from '../../candles/intervals.js'
import { type Series, seriesName, type WindowRef, windowName, windowOf } from '../../candles/series.js'
import { parseDate, startDateAt, type WindowSpan, windowSpan } from '../../candles/windows.js'
import { DayChecker, findPageFault, pageOf } from '../../rows/day-checks.js'
import { PAGE_ROWS } from '../exchange-api.js'
import { FetchError } from '../fetch-error.js'
import type { Fetcher } from '../fetcher.js'
import { limiter } from '../limiter.js'
import type { ArchiveReport, Fetched, SourceArchive } from '../source.js'
import { type DayTexts, readDays } from './csv.js'
import { type ArchiveMonth, archiveMonths, monthSpan } from './months.js'
import { absentZip, countZips, unzip, type Zip, zipFetcher } from './zips.js'

/** Months whose zips are fetched while the first of them is stored. */
const MONTHS_AHEAD = 8
/** Months that are unpacked at once. */
const MONTHS_CHECKED = 2

/** What the exchange itself says. Times are ms UTC. */
export interface ExchangeAnswers {
  fetch(window: WindowRef, signal: AbortSignal): Promise<Fetched>
  /** The first 1,000 rows of a span. */
  page(series: Series, span: WindowSpan, signal: AbortSignal): Promise<KlineRow[]>
  /** When the first candle of a series opens; -Infinity where nobody has asked. */
  firstTime(series: Series): Promise<number>
  now(): number
}

/** The exchange's archive of zips. Its days are used only where they add up to the exchange's own 1d candles. */
export interface Archive extends SourceArchive {
  /** How many windows are expected of it, and what they take: zips, and calls of the exchange itself. */
  cost(windows: readonly WindowRef[]): { readonly windows: number; readonly zips: number; readonly calls: number }
  /** Undefined for a window that the exchange itself must give. Throws what the exchange throws when it stops. */
  fetch(window: WindowRef, signal: AbortSignal): Promise<Fetched | undefined>
  close(): Promise<void>
}

interface Month extends ArchiveMonth {
  readonly index: number
  zips?: Promise<Zip[]>
  /** The checked days that were not asked for yet, by their start dates. */
  days?: Promise<Map<string, Fetched>>
}

export function openArchive(fetcher: Fetcher, exchange: ExchangeAnswers, warn: (text: string) => void): Archive {
  const months: Month[] = []
  const monthOf = new Map<string, Month>()
  const longCandles = new LRUCache<string, Promise<Fetched>>({ max: 4 })
  const refused: ArchiveReport['refused'][number][] = []
  const closing = new AbortController()
  const fetchZips = zipFetcher(fetcher, warn)
  const inTurn = limiter(MONTHS_CHECKED)
  let checker: DayChecker | undefined
  let windows = 0

  /** The 1d candles of a day or a month, and when the exchange said so: one answer has two years. */
  const findCandles = async ({ symbol }: Series, { startTime, endTime }: WindowSpan, signal: AbortSignal) => {
    const window = windowOf({ symbol, interval: '1d' }, startDateAt('1d', startTime))
    const name = windowName(window)
    const answer = longCandles.get(name) ?? exchange.fetch(window, signal)
    longCandles.set(name, answer)
    answer.catch(() => longCandles.delete(name))
    const { batch, asked } = await answer
    return { candles: batch.slice(startTime, endTime), asked }
  }
  /** A month without a 1d candle has no zip: it lies before the listing of a symbol, or after its delisting. */
  const loadZips = async (month: Month, signal: AbortSignal): Promise<Zip[]> => {
    const known = await findCandles(month.series, monthSpan(month), signal).catch(toReason)
    const isEmpty = typeof known !== 'string' && known.candles.length === 0
    return isEmpty ? [absentZip(month)] : fetchZips(month, exchange.now(), signal)
  }
  /** A day as a window, or why it is not that of the exchange. `texts`: of its zip, or why there are none. */
  const checkDay = async (window: WindowRef, texts: DayTexts | string, firstTime: number, signal: AbortSignal) => {
    const { candles: candle, asked } = await findCandles(window, windowSpan(window), signal)
    if (asked < windowSpan(window).endTime + DAY_MS) return 'its 1d candle is not final'
    checker ??= new DayChecker()
    const day = checker.check(window, texts, candle, firstTime)
    return typeof day === 'string' ? day : { ...day, asked, rendered: asked }
  }
  const checkMonth = async (
    month: Month,
    loading: Promise<Zip[]>,
    signal: AbortSignal,
  ): Promise<Map<string, Fetched>> => {
    const { series, windows: wanted } = month
    const firstTime = await exchange.firstTime(series)
    const [zips, { startTime }, { endTime }] = [
      await loading,
      windowSpan(wanted[0]),
      windowSpan(wanted[wanted.length - 1]),
    ]
    delete month.zips
    const span = { startTime: Math.max(startTime, firstTime), endTime }
    const part = pageOf(`${seriesName(series)} ${month.month}`, series.interval, span, PAGE_ROWS)
    const isThere = zips.some(({ body }) => typeof body !== 'string')
    const page = isThere ? exchange.page(series, part, signal) : undefined
    page?.catch(() => {})
    const days: [WindowRef, Fetched][] = []
    for (const { name, windows, body } of zips) {
      const starts = new Set(windows.map(({ startDate }) => parseDate(startDate)))
      const texts = typeof body === 'string' ? body : await readDays(unzip(body, `${name}.csv`), starts).catch(toReason)
      for (const window of windows) {
        await nextTurn()
        signal.throwIfAborted()
        const day = await checkDay(window, texts, firstTime, signal).catch(toReason)
        if (typeof day !== 'string') days.push([window, day])
        else refused.push({ ...window, reason: day.replace(`${windowName(window)}: `, '') })
      }
    }
    const reason = await page?.then(rows => findPageFault(rows, days, part.startTime), toReason)
    if (reason === undefined) return new Map(days.map(([{ startDate }, day]) => [startDate, day]))
    refused.push(...days.map(([window]) => ({ ...window, reason })))
    return new Map()
  }
  /** Fetches the zips of a month and of those behind it, and checks it and the next one, which is done while it is stored. */
  const start = ({ index }: Month, signal: AbortSignal): void => {
    const ending = AbortSignal.any([signal, closing.signal])
    for (const [ahead, month] of months.slice(index, index + MONTHS_AHEAD).entries()) {
      if (month.days) continue
      month.zips ??= thrownLater(loadZips(month, ending))
      const { zips } = month
      if (ahead < MONTHS_CHECKED) month.days = thrownLater(inTurn(() => checkMonth(month, zips, ending)))
    }
  }

  return {
    get report() {
      const inOrder = refused.toSorted((a, b) => (windowName(a) < windowName(b) ? -1 : 1))
      return months.length > 0 ? { windows, refused: inOrder } : undefined
    },
    cost: missing => {
      const expected = archiveMonths(missing, exchange.now())
      const zips = expected.reduce((count, month) => count + countZips(month, exchange.now()), 0)
      const dates = expected.flatMap(month => month.windows).map(({ startDate }) => startDate)
      const answers = new Set(dates.map(date => startDateAt('1d', parseDate(date))))
      return { windows: dates.length, zips, calls: expected.length + answers.size }
    },
    expect: missing => {
      for (const month of archiveMonths(missing, exchange.now())) {
        const entry = { ...month, index: months.length }
        months.push(entry)
        for (const window of month.windows) monthOf.set(windowName(window), entry)
      }
    },
    fetch: async (window, signal) => {
      const month = monthOf.get(windowName(window))
      if (month === undefined) return undefined
      start(month, signal)
      const days = await month.days
      const day = days?.get(window.startDate)
      days?.delete(window.startDate)
      if (day && day.batch.length > 0) windows++
      return day
    },
    close: () => {
      closing.abort()
      return fetcher.close()
    },
  }
}

/** A promise whose error is thrown where it is awaited, if it is. */
function thrownLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

/** Why a day is not used; throws what ends the run. */
function toReason(error: unknown): string {
  if (error instanceof FetchError || isKlinesError(error, 'bad_window')) return error.message
  throw error
}
