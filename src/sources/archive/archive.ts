import { setImmediate as nextTurn } from 'node:timers/promises'
import { isKlinesError } from '../../candles/errors.js'
import { type Series, type WindowRef, windowName, windowOf } from '../../candles/series.js'
import { parseDate, startDateAt, type WindowSpan } from '../../candles/windows.js'
import { DayChecker, findPageFault, pageOf } from '../../rows/archive-checks.js'
import { type DayTexts, readDays } from '../../rows/archive-csv.js'
import { decodeWindow } from '../../rows/window-codec.js'
import { FetchError } from '../fetch-error.js'
import type { Fetcher } from '../fetcher.js'
import type { ArchiveReport, Fetched, Source } from '../source.js'
import { type ArchiveMonth, archiveMonths, finalTime, monthSpan } from './months.js'
import { countZips, fetchZips, unzip, type Zip } from './zips.js'

/** Months whose zips are fetched while the first of them is stored. */
const MONTHS_AHEAD = 8

/** What the exchange itself says. Times are ms UTC. */
export interface ExchangeAnswers {
  fetch(window: WindowRef, signal: AbortSignal): Promise<Fetched>
  /** The first 1,000 rows of a span. */
  page(series: Series, span: WindowSpan, signal: AbortSignal): Promise<unknown[]>
  /** When the first candle of a series opens; -Infinity where nobody has asked. */
  firstTime(series: Series): Promise<number>
  now(): number
}

/** The exchange's archive of zips. Its days are used only where they add up to the exchange's own 1d candles. */
export interface Archive extends NonNullable<Source['archive']> {
  /** How many windows are expected of it, and what they take: zips, and calls of the exchange itself. */
  cost(windows: readonly WindowRef[]): { readonly windows: number; readonly zips: number; readonly calls: number }
  /** Undefined for a window that the exchange itself must give. Throws what the exchange throws when it stops. */
  fetch(window: WindowRef, signal: AbortSignal): Promise<Fetched | undefined>
  close(): Promise<void>
}

interface Month extends ArchiveMonth {
  readonly index: number
  zips?: Promise<Zip[]> | undefined
  /** The checked days that were not asked for yet, by their start dates. */
  days?: Promise<Map<string, Fetched>>
}

export function openArchive(fetcher: Fetcher, exchange: ExchangeAnswers, warn: (text: string) => void): Archive {
  const months: Month[] = []
  const monthOf = new Map<string, Month>()
  const longCandles = new Map<string, Promise<Fetched>>()
  const refused: ArchiveReport['refused'][number][] = []
  const checker = new DayChecker()
  let windows = 0

  const zipsOf = (month: Month, signal: AbortSignal) => fetchZips(month, fetcher, { now: exchange.now(), warn, signal })
  const refuse = (days: readonly WindowRef[], reason: string) => refused.push(...days.map(day => ({ ...day, reason })))

  /** The 1d candle of a day, if any, and when the exchange said so. */
  const findCandle = async ({ symbol, startDate }: WindowRef, signal: AbortSignal) => {
    const time = parseDate(startDate)
    const window = windowOf({ symbol, interval: '1d' }, startDateAt('1d', time))
    const answer = longCandles.get(windowName(window)) ?? exchange.fetch(window, signal)
    longCandles.set(windowName(window), answer)
    const { batch, asked } = await answer
    return { candle: batch.slice(time, time + 1), times: { asked, rendered: asked } }
  }
  /** A day as a window, or why it is not that of the exchange. `texts`: of its zip, or why there are none. */
  const checkDay = async (window: WindowRef, texts: DayTexts | string, signal: AbortSignal) => {
    const { candle, times } = await findCandle(window, signal)
    const text = typeof texts === 'string' ? undefined : texts.get(parseDate(window.startDate))
    if (candle.length === 0 && text) return 'the exchange has no 1d candle of it'
    if (candle.length > 0 && !text) return typeof texts === 'string' ? texts : 'the zip has no row of it'
    const bytes = text ?? Buffer.from('[]')
    const batch = decodeWindow(bytes, window)
    if (!text) return { bytes, batch, ...times }
    // The codec copies legal JSON that is not in the exchange's form.
    if (batch.bytes !== bytes) return 'a row is not written as the exchange does'
    const fault = checker.findFault(batch, window, candle, await exchange.firstTime(window))
    return fault ?? { bytes, batch, ...times }
  }
  const checkMonth = async (month: Month, signal: AbortSignal): Promise<Map<string, Fetched>> => {
    const zips = await (month.zips ?? zipsOf(month, signal))
    month.zips = undefined
    const { startTime, endTime } = monthSpan(month)
    const begin = Math.max(startTime, await exchange.firstTime(month.series))
    const span = pageOf(month.series, { startTime: begin, endTime: Math.min(endTime, finalTime(exchange.now())) })
    const isThere = zips.some(({ body }) => typeof body !== 'string')
    const page = isThere ? exchange.page(month.series, span, signal) : Promise.resolve([])
    page.catch(() => {})
    const days: [WindowRef, Fetched][] = []
    for (const { name, windows, body } of zips) {
      const texts = typeof body === 'string' ? body : await readDays(unzip(body, `${name}.csv`)).catch(toReason)
      for (const window of windows) {
        await nextTurn()
        signal.throwIfAborted()
        const day = await checkDay(window, texts, signal).catch(toReason)
        if (typeof day === 'string') refuse([window], day)
        else days.push([window, day])
      }
    }
    const fault = await page.then(rows => (isThere ? findPageFault(rows, days, span.startTime) : undefined), toReason)
    if (fault === undefined) return new Map(days.map(([{ startDate }, day]) => [startDate, day]))
    refuse(
      days.map(([window]) => window),
      fault,
    )
    return new Map()
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
      // The next month is checked while this one is stored. An error is thrown where the month is needed.
      for (const [ahead, next] of months.slice(month.index, month.index + MONTHS_AHEAD).entries()) {
        if (!next.days) next.zips ??= zipsOf(next, signal)
        if (ahead < 2) next.days ??= checkMonth(next, signal)
        for (const promise of [next.zips, next.days]) promise?.catch(() => {})
      }
      const days = await month.days
      const day = days?.get(window.startDate)
      days?.delete(window.startDate)
      if (day && day.batch.length > 0) windows++
      return day
    },
    close: () => fetcher.close(),
  }
}

/** Why a day is not used; throws what ends the run. */
function toReason(error: unknown): string {
  if (error instanceof FetchError || isKlinesError(error, 'bad_window')) return error.message
  throw error
}
