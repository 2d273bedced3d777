import { setImmediate as nextTurn } from 'node:timers/promises'
import { isKlinesError, KlinesError } from '../../candles/errors.js'
import { type Series, type WindowRef, windowName, windowOf } from '../../candles/series.js'
import { parseDate, startDateAt, type WindowSpan } from '../../candles/windows.js'
import { DayChecker } from '../../rows/day-sums.js'
import { decodeWindow } from '../../rows/window-codec.js'
import { FetchError, toStatusError } from '../fetch-error.js'
import type { Fetcher } from '../fetcher.js'
import type { ArchiveReport, Fetched, Source } from '../source.js'
import type { WholeResponse } from '../transport.js'
import { type DayTexts, readDays } from './csv.js'
import { type ArchiveMonth, archiveMonths, zipName, zipPath, zipsOf } from './months.js'
import { findPageFault, pageOf } from './page.js'
import { unzip } from './zip.js'

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

/** What windows take by the archive. */
interface ArchiveCost {
  /** How many of the windows are expected of it. */
  readonly windows: number
  readonly zips: number
  /** Requests to the exchange itself, but for days that are refused. */
  readonly calls: number
}

/** The exchange's archive of zips. Its days are used only where they add up to the exchange's own 1d candles. */
export interface Archive extends NonNullable<Source['archive']> {
  cost(windows: readonly WindowRef[]): ArchiveCost
  /** Undefined for a window that the exchange itself must give. Throws what the exchange throws when it stops. */
  fetch(window: WindowRef, signal: AbortSignal): Promise<Fetched | undefined>
  close(): Promise<void>
}

interface Zip {
  readonly name: string
  readonly windows: readonly WindowRef[]
  /** Its bytes, or why there are none. */
  readonly body: Buffer | string
}

interface Month extends ArchiveMonth {
  readonly index: number
  zips?: Promise<Zip[]> | undefined
  /** The checked days that were not asked for yet, by their start dates. */
  days?: Promise<Map<string, Fetched>>
}

const NO_ZIP = 'the archive has no zip of it'

export function openArchive(fetcher: Fetcher, exchange: ExchangeAnswers, warn: (text: string) => void): Archive {
  const months: Month[] = []
  const monthOf = new Map<string, Month>()
  const refused: ArchiveReport['refused'][number][] = []
  const longCandles = new Map<string, Promise<Fetched>>()
  const checker = new DayChecker()
  let windows = 0

  const fetchZip = async (series: Series, date: string, signal: AbortSignal): Promise<Buffer | string> => {
    try {
      const headers = { accept: '*/*' }
      return await fetcher.get({ path: zipPath(series, date), headers, accept: acceptZip, signal })
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof FetchError) return error.status === 404 ? NO_ZIP : error.message
      if (!(error instanceof KlinesError)) throw error
      const { message } = error.cause instanceof FetchError ? error.cause : error
      warn(`The archive at ${fetcher.name} is not asked any more: ${message}. The exchange gives the rest.`)
      return message
    }
  }
  const fetchZips = async (month: Month, signal: AbortSignal): Promise<Zip[]> => {
    const { series } = month
    const zip = async (date: string, windows: readonly WindowRef[]) => {
      return { name: zipName(series, date), windows, body: await fetchZip(series, date, signal) }
    }
    const kind = zipsOf(month, exchange.now())
    const whole = kind === 'days' ? undefined : await zip(month.month, month.windows)
    if (whole && (kind === 'month' || whole.body !== NO_ZIP)) return [whole]
    return Promise.all(month.windows.map(window => zip(window.startDate, [window])))
  }

  /** The candle of a day, and the answer that has it. */
  const findCandle = async ({ symbol, startDate }: WindowRef, signal: AbortSignal) => {
    const time = parseDate(startDate)
    const window = windowOf({ symbol, interval: '1d' }, startDateAt('1d', time))
    const answer = longCandles.get(windowName(window)) ?? exchange.fetch(window, signal)
    longCandles.set(windowName(window), answer)
    const { batch, asked } = await answer
    return { candle: batch.slice(time, time + 1), times: { asked, rendered: asked } }
  }
  /** A day as a window, or why it is not that of the exchange. */
  const checkDay = async (
    window: WindowRef,
    days: DayTexts | string,
    signal: AbortSignal,
  ): Promise<Fetched | string> => {
    try {
      const { candle, times } = await findCandle(window, signal)
      const text = typeof days === 'string' ? undefined : days.get(parseDate(window.startDate))
      if (candle.length === 0 && text) return 'the exchange has no 1d candle of it'
      if (candle.length > 0 && !text) return typeof days === 'string' ? days : 'the zip has no row of it'
      const bytes = text ?? Buffer.from('[]')
      const batch = decodeWindow(bytes, window)
      if (!text) return { bytes, batch, ...times }
      // Legal JSON in another form than that of the exchange was copied.
      if (batch.bytes !== bytes) return 'a row is not written as the exchange does'
      const fault = checker.findFault(batch, window, candle, await exchange.firstTime(window))
      return fault ?? { bytes, batch, ...times }
    } catch (error) {
      return toReason(error)
    }
  }

  const refuse = (windows: readonly WindowRef[], reason: string) =>
    refused.push(...windows.map(window => ({ ...window, reason })))
  const checkMonth = async (month: Month, signal: AbortSignal): Promise<Map<string, Fetched>> => {
    month.zips ??= fetchZips(month, signal)
    const zips = await month.zips
    month.zips = undefined
    const isThere = zips.some(({ body }) => typeof body !== 'string')
    const page = pageOf(month, await exchange.firstTime(month.series), exchange.now())
    const rows = isThere ? exchange.page(month.series, page, signal) : Promise.resolve([])
    rows.catch(() => {})
    const found: (readonly [WindowRef, Fetched])[] = []
    for (const { name, windows, body } of zips) {
      const days = typeof body === 'string' ? body : await readDays(unzip(body, `${name}.csv`)).catch(toReason)
      for (const window of windows) {
        await nextTurn()
        signal.throwIfAborted()
        const day = await checkDay(window, days, signal)
        if (typeof day === 'string') refuse([window], day)
        else found.push([window, day])
      }
    }
    const fault = isThere && (await rows.then(answer => findPageFault(answer, found, page.startTime), toReason))
    if (fault)
      refuse(
        found.map(([window]) => window),
        fault,
      )
    return new Map(fault ? [] : found.map(([{ startDate }, day]) => [startDate, day]))
  }

  return {
    get report() {
      if (months.length === 0) return undefined
      return { windows, refused: refused.toSorted((a, b) => (windowName(a) < windowName(b) ? -1 : 1)) }
    },
    cost: windows => {
      const expected = archiveMonths(windows, exchange.now())
      const zips = expected.map(month => (zipsOf(month, exchange.now()) === 'days' ? month.windows.length : 1))
      const days = expected.flatMap(month => month.windows)
      const answers = new Set(days.map(({ startDate }) => startDateAt('1d', parseDate(startDate))))
      return { windows: days.length, zips: sum(zips), calls: expected.length + answers.size }
    },
    expect: windows => {
      for (const month of archiveMonths(windows, exchange.now())) {
        const entry = { ...month, index: months.length }
        months.push(entry)
        for (const window of month.windows) monthOf.set(windowName(window), entry)
      }
    },
    fetch: async (window, signal) => {
      const month = monthOf.get(windowName(window))
      if (month === undefined) return undefined
      for (const next of months.slice(month.index, month.index + MONTHS_AHEAD)) {
        next.zips ??= next.days ? undefined : fetchZips(next, signal)
        next.zips?.catch(() => {})
      }
      // The next month is checked while this one is stored.
      for (const next of months.slice(month.index, month.index + 2)) {
        next.days ??= checkMonth(next, signal)
        next.days.catch(() => {})
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

function acceptZip(response: WholeResponse): Buffer {
  const { status, body } = response
  if (status !== 200) throw toStatusError(response)
  if (body.toString('latin1', 0, 2) === 'PK') return body
  throw new FetchError('invalid', 'the answer is no zip', { status, notJson: true })
}

function toReason(error: unknown): string {
  if (error instanceof FetchError || isKlinesError(error, 'bad_window')) return error.message
  throw error
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
