import type { Row } from '../synthetic-tree.js'

const HALF_HOUR = 1_800_000
/** The decimals that add up. */
const VOLUMES = [5, 7, 9, 10] as const
const PRICES = [1, 2, 3, 4] as const

/**
 * Whether a change of a window of 15m can be seen beside the candles of 30m: those that its rows add up to have changed, or a row
 * cannot be right. What is left is a price, close time or `ignore` that is not that of the half hour, either.
 */
export function changesLongerCandles(before: Buffer, after: Buffer): boolean {
  const rows = parseRows(after)
  return rows === undefined || !rows.every(isPossible) || halfHours(rows) !== halfHours(parseRows(before) ?? [])
}

/** The rows of a window; undefined for text that is none. */
function parseRows(bytes: Buffer): Row[] | undefined {
  try {
    const rows = JSON.parse(bytes.toString('latin1'))
    return Array.isArray(rows) && rows.every(row => Array.isArray(row) && row.length === 12) ? rows : undefined
  } catch {
    return undefined
  }
}

function isPossible(row: Row): boolean {
  if (![...PRICES, ...VOLUMES].every(column => /^\d+\.\d{8}$/.test(row[column]))) return false
  const [open, high, low, close] = PRICES.map(column => units(row[column]))
  return low <= open && low <= close && open <= high && close <= high
}

/** The candles of 30m, as text. */
function halfHours(rows: readonly Row[]): string {
  const groups = new Map<number, Row[]>()
  for (const row of rows) {
    const openTime = row[0] - (row[0] % HALF_HOUR)
    groups.set(openTime, [...(groups.get(openTime) ?? []), row])
  }
  const candles = [...groups].map(([openTime, group]) => {
    const [first, last] = [group[0], group[group.length - 1]]
    const prices = (column: 2 | 3) => group.map(row => units(row[column])).sort((a, b) => (a < b ? -1 : 1))
    const sums = VOLUMES.map(column => group.reduce((sum, row) => sum + units(row[column]), 0n))
    const count = group.reduce((sum, row) => sum + row[8], 0)
    return [openTime, first[1], prices(2).at(-1), prices(3)[0], last[4], ...sums, count, last[6], first[11]].join()
  })
  return candles.join('\n')
}

/** A decimal of eight digits after the point as an integer. */
function units(text: string): bigint {
  return BigInt(text.replace('.', ''))
}
