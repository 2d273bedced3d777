import type { KlineRow } from '../../../src/klines/columns.js'
import type { KnownWindow } from '../windows.js'

/**
 * The rules of a window file written down plainly: what `JSON.parse` takes, then service.md's table of elements.
 * Undefined when the file is to be refused.
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

/** A row's twelve texts: UTF-8 has no lone surrogates, and a number has no sign when it is 0. */
export function textsOf(row: readonly (string | number)[]): string[] {
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
