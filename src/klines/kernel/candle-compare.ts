import { NO_ROW } from './assembly/layout.js'
import { CandleTable } from './candle-table.js'

/** The spans of time that candles of one length cover. */
export interface TimeGrid {
  /** Length in ms; undefined for months. */
  readonly step: number | undefined
  /** Open time of any candle, ms UTC. */
  readonly anchor: number
  /** Open time of the candle that holds `time`, ms UTC. */
  start(time: number): number
  /** End of the candle that opens at `start`, ms UTC. */
  end(start: number): number
}

/**
 * The coarser candles that rows `start` to `end` (exclusive) of a table add up to, in the same kernel's memory. They go on with
 * the candle that `begun`, if it has a row, holds.
 */
export function groupCandles(
  table: CandleTable,
  grid: TimeGrid,
  begun: CandleTable,
  start = 0,
  end = table.length,
): CandleTable {
  const coarser = new CandleTable(table.kernel)
  coarser.reserve(begun.length + end - start)
  let row = start
  const addCandle = (startTime: number) => {
    const next = Math.min(table.rowFrom(grid.end(startTime), row), end)
    coarser.addToLast(table, row, next)
    row = next
  }
  if (begun.length > 0) {
    coarser.addCopy(begun, 0)
    addCandle(begun.openTime(0))
  }
  const { step, anchor } = grid
  if (step !== undefined) {
    const to = coarser.address(coarser.length)
    coarser.length += table.kernel.calls.groupCandles(table.address(row), end - row, step, anchor, to)
    return coarser
  }
  while (row < end) {
    const startTime = grid.start(table.openTime(row))
    coarser.begin(startTime)
    addCandle(startTime)
  }
  return coarser
}

/** How spans of two tables compare. */
export interface RowComparison {
  /** Number of open times that were compared. */
  readonly times: number
  /** The rows of both tables that differ; NO_ROW where a table has no candle. */
  readonly pairs: readonly (readonly [row: number, otherRow: number])[]
}

/**
 * Compares the candles of two tables of one kernel that open in `[startTime, endTime)`, ms UTC, in all columns. Marks those of
 * the other table as compared.
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
    const result = kernel.allocate(8 * (1 + rows + otherRows))
    const times = kernel.calls.compareCandles(table.address(first), rows, other.address(otherFirst), otherRows, result)
    const { view } = kernel
    const readRow = (address: number, firstRow: number) => {
      const row = view.getUint32(address, true)
      return row === NO_ROW ? NO_ROW : firstRow + row
    }
    const pairs = Array.from({ length: view.getUint32(result, true) }, (_, index) => {
      const address = result + 8 * (index + 1)
      return [readRow(address, first), readRow(address + 4, otherFirst)] as const
    })
    return { times, pairs }
  })
}

/** How many of the first `rows` candles of a table were not compared with any other. */
export function unverifiedCandles(table: CandleTable, rows: number): number {
  return rows - table.kernel.calls.comparedCandles(table.address(0), rows)
}
