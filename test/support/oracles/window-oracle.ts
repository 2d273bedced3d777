import type { KlineRow } from '../../../src/candles/columns.js'
import type { KnownWindow } from '../windows.js'

const DAY = 86_400_000
const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: DAY, w: 7 * DAY }
const MARCH_2018 = Date.parse('2018-03-01T00:00:00Z')

/** When the candle after `openTime` opens if none is missing, written down apart from the sources. */
export function nextOpenTime(interval: string, openTime: number): number {
  const date = new Date(openTime)
  if (interval === '1M') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
  return openTime + Number(interval.slice(0, -1)) * UNITS[interval.slice(-1)]
}

/** Whether a candle of the series opens at `time`; `anchor`: when a candle of a 3d series opens. */
export function isOnGrid(interval: string, time: number, anchor?: number): boolean {
  const date = new Date(time)
  if (interval === '1M') return date.getUTCDate() === 1 && time % DAY === 0
  if (interval === '1w') return date.getUTCDay() === 1 && time % DAY === 0
  if (interval === '3d') return time % DAY === 0 && (anchor === undefined || (time - anchor) % (3 * DAY) === 0)
  return time % nextOpenTime(interval, 0) === 0
}

/**
 * The rows of a window file by the plain rules: valid JSON, then the types and the order of the elements in the service's OpenAPI
 * description, then the times and counts that a candle can have. Undefined when the file must be refused.
 */
export function oracleRows(
  bytes: Uint8Array,
  { span, window: { interval } }: KnownWindow,
  anchor?: number,
): KlineRow[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
  if (!Array.isArray(value)) return undefined
  let last = -1
  // Candles of 3d open at midnight.
  let first = anchor !== undefined && anchor % DAY === 0 ? anchor : undefined
  for (const row of value) {
    if (!Array.isArray(row) || row.length !== 12) return undefined
    for (const index of [0, 6, 8]) if (!isWhole(row[index])) return undefined
    for (const index of [1, 2, 3, 4, 5, 7, 9, 10]) if (!isDecimal(row[index])) return undefined
    if (typeof row[11] !== 'string') return undefined
    const [openTime, closeTime, count] = [row[0], row[6], row[8]]
    if (!(openTime >= span.startTime && openTime < span.endTime && openTime > last)) return undefined
    last = openTime
    if (openTime % DAY === 0) first ??= openTime
    if (openTime >= MARCH_2018 && !isOnGrid(interval, openTime, first)) return undefined
    if (!(closeTime >= openTime && closeTime < nextOpenTime(interval, openTime) && count >= 0)) return undefined
  }
  return value
}

/** The texts of a row's cells: UTF-8 has no lone surrogates, and 0 has no sign. */
export function toTexts(row: readonly (string | number)[]): string[] {
  return row.map(cell => (typeof cell === 'string' ? Buffer.from(cell).toString() : BigInt(cell).toString()))
}

function isWhole(cell: unknown): boolean {
  return typeof cell === 'number' && cell % 1 === 0 && cell >= -(2 ** 53 - 1) && cell <= 2 ** 53 - 1
}

function isDecimal(cell: unknown): boolean {
  if (typeof cell !== 'string') return false
  const parts = cell.split('.')
  return parts.length <= 2 && parts.every(part => part !== '' && [...part].every(digit => '0123456789'.includes(digit)))
}
