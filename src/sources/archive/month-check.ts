import { setImmediate as nextTurn } from 'node:timers/promises'
import type { KlineRow } from '../../candles/columns.js'
import { isKlinesError, KlinesError } from '../../candles/errors.js'
import { parseList } from '../../candles/lists.js'
import { seriesName, type WindowRef } from '../../candles/series.js'
import { type DayChecker, findPageFault, pageOf } from '../../rows/day-checks.js'
import type { ExchangeAnswers } from '../exchange-answers.js'
import { candlesCall } from '../exchange-api.js'
import { FetchError } from '../fetch-error.js'
import type { Fetched } from '../source.js'
import { type DayTexts, readDays } from './csv.js'
import { type ArchiveMonth, unzip, type Zip } from './zips.js'

/** What was fetched of a month: the exchange's own 1h candles, and the zips that they check. */
export interface MonthFiles {
  readonly hours: Fetched
  readonly zips: readonly Zip[]
}

/** A month that is being checked. `firstTime`: when the first candle of its series opens, ms UTC. */
interface MonthCheck extends MonthFiles {
  readonly checker: DayChecker
  readonly firstTime: number
  readonly signal: AbortSignal
}

/** The days of a month, by their start dates, or why the exchange has to give them. */
export type CheckedDays = Map<string, Fetched | string>

/** Checks a month by its 1h candles, and by a page of its rows. Throws what the exchange throws when it stops. */
export async function checkMonth(
  { series, month, windows }: ArchiveMonth,
  answers: ExchangeAnswers,
  check: MonthCheck,
): Promise<CheckedDays> {
  const { market } = answers
  const isThere = check.zips.some(({ body }) => typeof body !== 'string')
  const span = pageOf(`${seriesName(series)} ${month}`, windows, market.pageRows)
  const fetching = isThere ? answers.get(candlesCall(market, series, span), parsePage, check.signal) : undefined
  // Its error is thrown where it is awaited, after the days.
  fetching?.catch(() => {})
  const days: CheckedDays = new Map()
  const used = new Map<string, Fetched>()
  for (const { windows: ofZip, body } of check.zips) {
    const texts = typeof body === 'string' ? body : await unzip(body).then(readDays).catch(toReason)
    for (const window of ofZip) {
      await nextTurn()
      check.signal.throwIfAborted()
      const day = checkDay(window, texts, check)
      days.set(window.startDate, day)
      if (typeof day !== 'string') used.set(window.startDate, day)
    }
  }
  const fault = await fetching?.then(({ value }) => findPageFault(value, used, span.startTime), toReason)
  if (fault !== undefined) for (const startDate of used.keys()) days.set(startDate, fault)
  return days
}

/** A day as a window, or why it is not that of the exchange. `texts`: of its zip, or why there are none. */
function checkDay(window: WindowRef, texts: DayTexts | string, check: MonthCheck): Fetched | string {
  const { batch, asked } = check.hours
  try {
    const day = check.checker.check(window, texts, batch, check.firstTime)
    return typeof day === 'string' ? day : { ...day, asked, rendered: asked }
  } catch (error) {
    return toReason(error)
  }
}

/** Why a day is not used; throws what ends the run. */
export function toReason(error: unknown): string {
  if (error instanceof FetchError || isKlinesError(error, 'bad_window')) return error.message
  throw error
}

function parsePage(bytes: Uint8Array): KlineRow[] {
  const rows = parseList(bytes, 'The page of candles')
  if (rows.every(row => Array.isArray(row) && Number.isSafeInteger(row[0]))) return rows as KlineRow[]
  throw new KlinesError('bad_window', 'the page of candles has something else than rows')
}
