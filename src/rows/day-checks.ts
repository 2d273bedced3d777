import { COLUMNS, type KlineRow } from '../candles/columns.js'
import { type Interval, nextOpenTime } from '../candles/intervals.js'
import type { WindowRef } from '../candles/series.js'
import { formatTime } from '../candles/text.js'
import { parseDate, type WindowSpan, windowSpan } from '../candles/windows.js'
import { CandleTable, DECIMALS } from './candle-table.js'
import { sha256 } from './fingerprint.js'
import type { KlineBatch } from './kline-batch.js'
import { OFFSETS_PER_ROW } from './wasm/assembly/layout.js'
import { Kernel } from './wasm/kernel.js'
import { decodeWindow } from './window-codec.js'

/** Columns of a 1d candle that follow from its shorter candles. */
const SUMMED = [...DECIMALS, COLUMNS.indexOf('count')]
/** Decimals but the four prices. */
const VOLUMES = DECIMALS.slice(4)
const [POINT, ZERO] = Buffer.from('.0')

/** Checks days one after the other, in the same memory. */
export class DayChecker {
  private readonly table = new CandleTable(new Kernel())
  private readonly sum = new CandleTable(this.table.kernel)

  /** A day as a window, or why it is not that of the exchange. `texts`: of its zip, or why there are none. */
  check(window: WindowRef, texts: ReadonlyMap<number, Buffer> | string, candle: KlineBatch, firstTime: number) {
    const text = typeof texts === 'string' ? undefined : texts.get(parseDate(window.startDate))
    if (candle.length === 0 && text) return 'the exchange has no 1d candle of it'
    if (candle.length > 0 && !text) return typeof texts === 'string' ? texts : 'the zip has no row of it'
    const bytes = text ?? Buffer.from('[]')
    const batch = decodeWindow(bytes, window)
    const day = { bytes, batch }
    if (!text) return day
    // The codec copies legal JSON that is not in the exchange's form.
    if (batch.bytes !== bytes) return 'a row is not written as the exchange does'
    return this.findFault(batch, window, candle, firstTime) ?? day
  }

  /**
   * Why the candles of a day are not all, or not those that its 1d candle was made of; undefined when they are. `day`: that candle alone.
   * `firstTime`: when the first candle of the series opens, ms UTC. An open or close inside the day, a high or low that is not the day's,
   * and the prices of a candle without trades may be any.
   */
  private findFault(batch: KlineBatch, window: WindowRef, day: KlineBatch, firstTime: number): string | undefined {
    const { startTime, endTime } = windowSpan(window)
    let expected = Math.max(startTime, firstTime)
    for (let row = 0; row < batch.length; row++) {
      const next = nextOpenTime(window.interval, expected)
      if (batch.openTime(row) !== expected || batch.closeTime(row) !== next - 1) break
      // A sum leaves out candles without trades.
      const isQuiet = batch.count(row) === 0
      if (isQuiet && VOLUMES.some(column => /[1-9]/.test(batch.text(row, column))))
        return `row ${row} has a volume without trades`
      expected = next
    }
    if (expected !== endTime) return `no whole candle opens at ${formatTime(expected)} UTC`
    for (const column of DECIMALS) {
      const row = findOtherForm(batch, column, day.text(0, column))
      if (row !== undefined) return `${COLUMNS[column]} of row ${row} is not written as the exchange does`
    }
    const { table, sum } = this
    table.clear()
    table.add(batch)
    sum.clear()
    sum.begin(startTime)
    sum.addToLast(table, 0, table.length)
    const column = SUMMED.find(one => sum.text(0, one) !== day.text(0, one))
    return column === undefined ? undefined : `${COLUMNS[column]} of its candles is not that of the 1d candle`
  }
}

/** The first row with another number of digits after the point than `text`, or with a zero too many before it. */
function findOtherForm({ bytes, offsets, length }: KlineBatch, column: number, text: string): number | undefined {
  const point = text.indexOf('.')
  const fraction = point < 0 ? 0 : text.length - point
  for (let row = 0; row < length; row++) {
    const cell = row * OFFSETS_PER_ROW + 2 * column
    const [start, end] = [offsets[cell], offsets[cell + 1]]
    const whole = end - fraction
    const isRounded = fraction === 0 ? !bytes.subarray(start, end).includes(POINT) : bytes[whole] === POINT
    if (!isRounded || (bytes[start] === ZERO && whole > start + 1)) return row
  }
  return undefined
}

/**
 * The part of a span, `rows` candles, that is compared with the exchange: from a place that follows from `name`, so that every run compares
 * the same ones. Times are ms UTC.
 */
export function pageOf(name: string, interval: Interval, { startTime, endTime }: WindowSpan, rows: number): WindowSpan {
  const step = nextOpenTime(interval, 0)
  const places = Math.max(1, Math.floor((endTime - startTime) / step) - rows + 1)
  const hash = Number.parseInt(sha256(Buffer.from(name)).slice(0, 8), 16)
  return { startTime: startTime + step * (hash % places), endTime }
}

/**
 * Why days are not those of the exchange: the rows of its answer, from `fromTime` on (ms UTC), are compared with theirs as text. `days`:
 * the bytes of windows.
 */
export function findPageFault(
  rows: readonly KlineRow[],
  days: readonly (readonly [WindowRef, { readonly bytes: Buffer }])[],
  fromTime: number,
): string | undefined {
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
