import type { DuckDBValue } from '@duckdb/node-api'

/** A value as JSON can hold it. Numbers are whole within +-(2^53-1), or finite doubles. */
export type JsonCell = string | number | boolean | null | readonly JsonCell[] | { readonly [name: string]: JsonCell }

/** A timestamp as DuckDB writes it in UTC. */
const TIMESTAMP = /^(\d{4,6}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?(\+00)?$/
/** Digits of the second's fraction, at least. */
const FRACTION = 3

/**
 * A value of DuckDB for JSON. Decimals, and whole numbers beyond 2^53, are texts that keep every digit; times are ISO 8601, with
 * a Z where they are points in time (TIMESTAMP WITH TIME ZONE). A double that is no number is a text.
 */
export function jsonCell(value: DuckDBValue): JsonCell {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'bigint') return isSafe(value) ? Number(value) : String(value)
  if ('items' in value) return value.items.map(jsonCell)
  if ('entries' in value) {
    const pairs = Array.isArray(value.entries)
      ? value.entries.map(({ key, value }) => [cellText(key), value] as const)
      : Object.entries(value.entries as Readonly<Record<string, DuckDBValue>>)
    return Object.fromEntries(pairs.map(([name, entry]) => [name, jsonCell(entry)]))
  }
  // Unions and variants hold another value; a decimal's is its digits.
  if ('value' in value && !('scale' in value)) return jsonCell(value.value)
  return isoTime(String(value))
}

/** The same as plain text: null is empty, a list or a structure is JSON. */
export function cellText(value: DuckDBValue): string {
  const cell = jsonCell(value)
  if (cell === null) return ''
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell)
}

function isSafe(value: bigint): boolean {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
}

/** A timestamp of DuckDB as ISO 8601; any other text as it is. */
function isoTime(text: string): string {
  const [whole, date, time, fraction = '', zone] = TIMESTAMP.exec(text) ?? []
  if (whole === undefined) return text
  return `${date}T${time}.${fraction.padEnd(FRACTION, '0')}${zone === undefined ? '' : 'Z'}`
}
