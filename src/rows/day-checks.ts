import { COLUMNS, type KlineRow } from '../candles/columns.js'
import { trimDecimal } from '../candles/decimals.js'
import { DAY_MS, HOUR_MS, nextOpenTime } from '../candles/intervals.js'
import { decodeUtf8 } from '../candles/json.js'
import type { WindowRef } from '../candles/series.js'
import { formatTime } from '../candles/text.js'
import { parseDate, type WindowSpan, windowSpan } from '../candles/windows.js'
import { CandleTable, DECIMALS } from './candle-table.js'
import { sha256 } from './fingerprint.js'
import type { KlineBatch } from './kline-batch.js'
import { OFFSETS_PER_ROW } from './wasm/assembly/layout.js'
import { Kernel } from './wasm/kernel.js'
import { decodeWindow } from './window-codec.js'

/** Columns of a 1h candle that follow from its shorter candles. */
const SUMMED = [...DECIMALS, COLUMNS.indexOf('count')]
const [POINT, ZERO] = Buffer.from('.0')

/** Checks days one after the other, in the same memory. Times are ms UTC. */
export class DayChecker {
  private readonly table = new CandleTable(new Kernel())
  private readonly sum = new CandleTable(this.table.kernel)

  /** `hasBareWholes`: whether a whole number may have no point between others that have one. */
  constructor(private readonly hasBareWholes = false) {}

  /**
   * A day as a window, or why it is not that of the exchange. `texts`: of its zip, or why there are none. `hours`: the
   * exchange's 1h candles of that day, and others. `firstTime`: when the first candle of the series opens.
   */
  check(window: WindowRef, texts: ReadonlyMap<number, Buffer> | string, hours: KlineBatch, firstTime: number) {
    const { startTime, endTime } = windowSpan(window)
    const ofDay = hours.slice(startTime, endTime)
    const text = typeof texts === 'string' ? undefined : texts.get(startTime)
    if (ofDay.length > 0 && !text) return typeof texts === 'string' ? texts : 'the zip has no row of it'
    const bytes = text ?? Buffer.from('[]')
    const batch = decodeWindow(bytes, window)
    const day = { bytes, batch }
    if (!text) return day
    // The codec copies legal JSON that is not in the exchange's form.
    if (batch.bytes !== bytes) return 'a row is not written as the exchange does'
    return this.findFault(batch, window, ofDay, firstTime) ?? day
  }

  /** Why the candles of a day are not all, or not those of the exchange. */
  private findFault(batch: KlineBatch, window: WindowRef, hours: KlineBatch, firstTime: number): string | undefined {
    const { startTime, endTime } = windowSpan(window)
    let expected = Math.max(startTime, firstTime)
    for (let row = 0; row < batch.length; row++) {
      const next = nextOpenTime(window.interval, expected)
      if (batch.openTime(row) !== expected || batch.closeTime(row) !== next - 1) break
      expected = next
    }
    if (expected !== endTime) return `no whole candle opens at ${formatTime(expected)} UTC`
    const { table } = this
    table.clear()
    table.add(batch)
    for (let row = 0; row < table.length; row++) {
      const faults = table.faults(row)
      if (faults.length > 0) return `row ${row}: ${faults[0]}`
    }
    const digits = this.hasBareWholes ? fractionDigits(hours) : undefined
    const firstHour = batch.openTime(0) - (batch.openTime(0) % HOUR_MS)
    for (let time = firstHour; time < endTime; time += HOUR_MS) {
      const hour = hours.slice(time, time + HOUR_MS)
      const fault = this.findHourFault(batch, time, hour, digits ?? fractionDigits(hour))
      if (fault !== undefined) return fault
    }
    return undefined
  }

  /**
   * Why the candles of an hour are not those that its 1h candle was made of; undefined when they are. It does not see an
   * open or close inside the hour, a high or low that is not the hour's, and the prices of a candle without trades. `digits`: those after
   * the point that the cells of each decimal have.
   */
  private findHourFault(
    batch: KlineBatch,
    startTime: number,
    hour: KlineBatch,
    digits: readonly number[],
  ): string | undefined {
    const { table, sum } = this
    const name = `${formatTime(startTime).slice(-5)} UTC`
    // Before March 2018 some 1h candles are not on the hour.
    if (hour.length !== 1 || hour.openTime(0) !== startTime) return `the exchange has no 1h candle at ${name}`
    const start = table.rowFrom(startTime)
    const end = table.rowFrom(startTime + HOUR_MS, start)
    for (const [place, column] of DECIMALS.entries()) {
      const row = this.findOtherForm(batch, [start, end], column, digits[place])
      if (row !== undefined) return `${COLUMNS[column]} of row ${row} is not written as the exchange does`
    }
    sum.clear()
    sum.begin(startTime)
    sum.addToLast(table, start, end)
    const column = SUMMED.find(one => trimDecimal(sum.text(0, one)) !== trimDecimal(hour.text(0, one)))
    return column === undefined ? undefined : `${COLUMNS[column]} of the hour at ${name} is not that of its 1h candle`
  }

  /** The first of some rows with another number of digits after the point, or with a zero too many before it. */
  private findOtherForm(
    { bytes, offsets }: KlineBatch,
    [start, end]: readonly [number, number],
    column: number,
    digits: number,
  ): number | undefined {
    for (let row = start; row < end; row++) {
      const cell = row * OFFSETS_PER_ROW + 2 * column
      const [from, to] = [offsets[cell], offsets[cell + 1]]
      const point = digits === 0 ? to : to - digits - 1
      const hasPoint = point < to && bytes[point] === POINT
      const isBare = !hasPoint && (digits === 0 || this.hasBareWholes) && !bytes.subarray(from, to).includes(POINT)
      const whole = isBare ? to : point
      if (!(hasPoint || isBare) || (bytes[from] === ZERO && whole > from + 1)) return row
    }
    return undefined
  }
}

/** The most digits after the point that cells of a batch have, of each decimal. */
function fractionDigits(batch: KlineBatch): number[] {
  return DECIMALS.map(column => {
    let most = 0
    for (let row = 0; row < batch.length; row++)
      most = Math.max(most, batch.text(row, column).split('.')[1]?.length ?? 0)
    return most
  })
}

/**
 * The part of a month whose first `rows` candles are compared with the exchange: from a place that follows from `name`, so
 * that every run compares the same ones. `windows`: the wanted days, ascending. The rows lie in one of these days; where a
 * day has fewer rows, they begin with one and go on with the days after it.
 */
export function pageOf(name: string, windows: readonly WindowRef[], rows: number): WindowSpan {
  const hash = Number.parseInt(sha256(Buffer.from(name)).slice(0, 8), 16)
  const step = nextOpenTime(windows[0].interval, 0)
  const perDay = DAY_MS / step
  const days = Math.max(1, windows.length - Math.ceil(rows / perDay) + 1)
  const places = Math.max(1, perDay - rows + 1)
  const { startTime } = windowSpan(windows[hash % days])
  const { endTime } = windowSpan(windows[windows.length - 1])
  return { startTime: startTime + step * (Math.floor(hash / days) % places), endTime }
}

/**
 * Why days are not those of the exchange: the rows of its answer, from `fromTime` on (ms UTC), are compared with theirs as
 * text. `days`: windows by their start dates.
 */
export function findPageFault(
  rows: readonly KlineRow[],
  days: ReadonlyMap<string, { readonly bytes: Uint8Array }>,
  fromTime: number,
): string | undefined {
  // An answer may be shorter than was asked for.
  const untilTime = rows.length === 0 ? Infinity : rows[rows.length - 1][0] + 1
  for (const [startDate, { bytes }] of days) {
    const startTime = Math.max(parseDate(startDate), fromTime)
    const endTime = Math.min(parseDate(startDate) + DAY_MS, untilTime)
    if (startTime >= endTime) continue
    const isCompared = ([time]: KlineRow) => time >= startTime && time < endTime
    const ours = (JSON.parse(decodeUtf8(bytes)) as KlineRow[]).filter(isCompared)
    if (JSON.stringify(ours) !== JSON.stringify(rows.filter(isCompared)))
      return `a row of ${startDate} is not that of the exchange`
  }
  return undefined
}
