import type { KlineRow } from '../../candles/columns.js'
import { DAY_MS, nextOpenTime } from '../../candles/intervals.js'
import type { WindowRef } from '../../candles/series.js'
import { type WindowSpan, windowSpan } from '../../candles/windows.js'
import { sha256 } from '../../rows/fingerprint.js'
import type { Fetched } from '../source.js'
import { type ArchiveMonth, monthSpan, zipName } from './months.js'

/** Rows of an answer of the exchange. */
const PAGE_ROWS = 1_000

/**
 * The part of a month that is compared with the exchange: from a place that follows from symbol, interval and month, so that every run
 * compares the same rows. `firstTime`: when the series begins, ms UTC.
 */
export function pageOf(month: ArchiveMonth, firstTime: number, now: number): WindowSpan {
  const { startTime, endTime } = monthSpan(month)
  const lastTime = now - DAY_MS
  const [begin, end] = [Math.max(startTime, firstTime), Math.min(endTime, lastTime - (lastTime % DAY_MS))]
  const step = nextOpenTime(month.series.interval, 0)
  const places = Math.max(1, (end - begin) / step - PAGE_ROWS + 1)
  const hash = Number.parseInt(sha256(Buffer.from(zipName(month.series, month.month))).slice(0, 8), 16)
  return { startTime: begin + step * (hash % Math.floor(places)), endTime: end }
}

/** Why days are not those of the exchange: its rows from `fromTime` on (ms UTC) are compared with theirs as text. */
export function findPageFault(
  answer: readonly unknown[],
  days: readonly (readonly [WindowRef, Fetched])[],
  fromTime: number,
): string | undefined {
  const rows = answer as readonly KlineRow[]
  // An answer may be shorter than was asked for.
  const untilTime = rows.length === 0 ? Infinity : rows[rows.length - 1][0] + 1
  for (const [window, { bytes }] of days) {
    const { startTime, endTime } = windowSpan(window)
    if (endTime <= fromTime || startTime >= untilTime) continue
    const isCompared = ([time]: KlineRow) =>
      time >= Math.max(startTime, fromTime) && time < Math.min(endTime, untilTime)
    const ours = (JSON.parse(bytes.toString()) as KlineRow[]).filter(isCompared)
    if (JSON.stringify(ours) !== JSON.stringify(rows.filter(isCompared)))
      return `a row of ${window.startDate} is not that of the exchange`
  }
  return undefined
}
