import type { KlineRow } from '../../../src/klines/columns.js'
import type { KnownWindow } from '../windows.js'

/**
 * The rows of a window file by the plain rules: valid JSON, then the types and the order of the elements in the service's OpenAPI
 * description. Undefined when the file must be refused.
 */
export function oracleRows(bytes: Uint8Array, { span }: Pick<KnownWindow, 'span'>): KlineRow[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
  if (!Array.isArray(value)) return undefined
  let last = -1
  for (const row of value) {
    if (!Array.isArray(row) || row.length !== 12) return undefined
    for (const index of [0, 6, 8]) if (!isWhole(row[index])) return undefined
    for (const index of [1, 2, 3, 4, 5, 7, 9, 10]) if (!isDecimal(row[index])) return undefined
    if (typeof row[11] !== 'string') return undefined
    if (!(row[0] >= span.startTime && row[0] < span.endTime && row[0] > last && row[6] >= row[0])) return undefined
    last = row[0]
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
