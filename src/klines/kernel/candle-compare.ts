import type { CandleGrid } from '../resample/candle-grid.js'
import { NO_ROW } from './assembly/layout.js'
import { CandleTable } from './candle-table.js'

/** The candles that those of a table add up to, in the same kernel's memory. */
export function groupCandles(table: CandleTable, buckets: CandleGrid): CandleTable {
  const made = new CandleTable(table.kernel)
  const { step, anchor } = buckets
  if (step !== undefined) {
    made.reserve(table.length)
    made.length = table.kernel.calls.groupCandles(table.address(0), table.length, step, anchor, made.address(0))
    return made
  }
  for (let row = 0; row < table.length; ) {
    const startTime = buckets.start(table.openTime(row))
    const next = table.rowFrom(buckets.end(startTime), row)
    made.begin(startTime)
    made.addToLast(table, row, next)
    row = next
  }
  return made
}

/** What came of comparing stretches of two tables. */
export interface RowComparison {
  /** How many open times were looked at. */
  readonly times: number
  /** The rows of both that are not the same; NO_ROW for one that is not there. */
  readonly pairs: readonly (readonly [row: number, otherRow: number])[]
}

/**
 * Compares the candles of two tables of one kernel that open in `[startTime, endTime)`, ms UTC, and marks the other's as
 * compared.
 */
export function compareCandles(
  table: CandleTable,
  other: CandleTable,
  startTime: number,
  endTime: number,
): RowComparison {
  const { kernel } = table
  const [first, otherFirst] = [table.rowFrom(startTime), other.rowFrom(startTime)]
  const [rows, otherRows] = [table.rowFrom(endTime, first) - first, other.rowFrom(endTime, otherFirst) - otherFirst]
  return kernel.withScratch(() => {
    const found = kernel.allocate(8 * (1 + rows + otherRows))
    const times = kernel.calls.compareCandles(table.address(first), rows, other.address(otherFirst), otherRows, found)
    const { view } = kernel
    const rowAt = (at: number, from: number) => {
      const row = view.getUint32(at, true)
      return row === NO_ROW ? NO_ROW : from + row
    }
    const pairs = Array.from({ length: view.getUint32(found, true) }, (_, index) => {
      const at = found + 8 * (index + 1)
      return [rowAt(at, first), rowAt(at + 4, otherFirst)] as const
    })
    return { times, pairs }
  })
}

/** How many candles of a table were not compared with any. */
export function unverifiedCandles(table: CandleTable): number {
  return table.length - table.kernel.calls.comparedCandles(table.address(0), table.length)
}

/**
 * The rows that a closer look is due at when candles open every `step` ms, counted from `anchor` (ms UTC): all but those that
 * follow the one before, lie on the grid, close as they should, have trades, and values that can be.
 */
export function findAnomalies(table: CandleTable, step: number, anchor: number): Uint32Array {
  const { kernel, length } = table
  return kernel.withScratch(() => {
    const found = kernel.allocate(4 * length)
    const rows = kernel.calls.findAnomalies(table.address(0), length, step, anchor, found)
    return new Uint32Array(kernel.view.buffer, found, rows).slice()
  })
}
