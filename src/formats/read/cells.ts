import { quoteText } from '../../candles/text.js'
import { shiftPoint } from '../../rows/decimals.js'

/** Rows that are made of the columns of a file at once: they take many times the memory of its values. */
export const ROWS_AT_ONCE = 1_000

/** A cell from a value of its column. */
export type CellReader = (value: unknown) => unknown

/** Times since the epoch from 2001 to 2286: ms, us, and seconds with three decimals where there are ms. */
const [MILLISECONDS, MICROSECONDS, SECONDS] = [/^\d{13}$/, /^\d{13}000$/, /^\d{10}(\.\d{1,3})?$/]
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const DECIMAL = /^\d+(\.\d+)?$/
const SHOWN_CHARACTERS = 40

/** A time in ms UTC from each form that klines writes; undefined for anything else. */
export function parseTimeCell(cell: unknown): number | undefined {
  const text = isNumber(cell) ? String(cell) : cell
  if (typeof text !== 'string') return undefined
  if (MILLISECONDS.test(text)) return Number(text)
  if (MICROSECONDS.test(text)) return Number(text.slice(0, -3))
  if (SECONDS.test(text)) return Math.round(1000 * Number(text))
  const time = ISO.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

/** A number of trades; undefined for anything else. */
export function parseCountCell(cell: unknown): number | undefined {
  const isCount = isNumber(cell) || (typeof cell === 'string' && /^\d+$/.test(cell))
  // Adding 0 turns -0, which JSON allows, into 0.
  const count = isCount ? Number(cell) + 0 : Number.NaN
  return Number.isSafeInteger(count) && count >= 0 ? count : undefined
}

/** A decimal as it is written; undefined for anything else. */
export function parseDecimalCell(cell: unknown): string | undefined {
  return typeof cell === 'string' && DECIMAL.test(cell) ? cell : undefined
}

/** A decimal of `scale` digits after the point. A value of another type stays: it is refused as it is. */
export function formatDecimal(value: unknown, scale: number): unknown {
  if (typeof value !== 'bigint' && typeof value !== 'number') return value
  return value < 0 ? `-${shiftPoint(String(-value), -scale)}` : shiftPoint(String(value), -scale)
}

/** A cell for a message, with control characters escaped. */
export function showCell(cell: unknown): string {
  if (cell === undefined || cell === null) return 'nothing'
  if (typeof cell === 'object') return 'no single value'
  const text = typeof cell === 'string' ? quoteText(cell.slice(0, SHOWN_CHARACTERS + 1)) : String(cell)
  return text.length > SHOWN_CHARACTERS + 2 ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text
}

function isNumber(cell: unknown): cell is number | bigint {
  return typeof cell === 'number' || typeof cell === 'bigint'
}
