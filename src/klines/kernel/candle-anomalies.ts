import type { CandleTable } from './candle-table.js'

/**
 * The rows from `start` on that need a closer look when candles open every `step` ms, counted from `anchor` (ms UTC): the
 * first one, and all but those that follow the row before, lie on the grid, close on time, and have prices and volumes that
 * are possible.
 */
export function findAnomalies(table: CandleTable, start: number, step: number, anchor: number): Uint32Array {
  const { kernel, length } = table
  return kernel.withScratch(() => {
    const result = kernel.allocate(4 * (length - start))
    const rows = kernel.calls.findAnomalies(table.address(start), length - start, step, anchor, result)
    return new Uint32Array(kernel.view.buffer, result, rows).map(row => start + row)
  })
}

/**
 * The stretches of candles without a trade from row `start` on, in which each candle opens when the one before is over: pairs of the
 * first row and the number of rows.
 */
export function findRunsWithoutTrades(table: CandleTable, start: number): Uint32Array {
  const { kernel, length } = table
  return kernel.withScratch(() => {
    const result = kernel.allocate(8 * (length - start))
    const runs = kernel.calls.findRunsWithoutTrades(table.address(start), length - start, result)
    return new Uint32Array(kernel.view.buffer, result, 2 * runs).map((value, index) =>
      index % 2 === 0 ? start + value : value,
    )
  })
}
