import { nextOpenTime } from '../intervals.js'
import type { CandleTable } from '../kernel/candle-table.js'
import { buildSeriesGrid } from '../resample/candle-grid.js'
import type { Series } from '../series.js'
import type { WindowSpan } from '../windows.js'

/** 1 March 2018, ms UTC. */
const ALWAYS_ON_GRID = Date.UTC(2018, 2)

/**
 * Whether the exchange itself may have a candle off the grid at `openTime`, ms UTC. After some outages before March 2018 it
 * counted from the moment at which it resumed: the hours of BTCUSDT open at 28:14.789 past the hour from 9 to 11 February 2018,
 * and its minutes are some seconds late from 4 to 17 December 2017. Later candles are all on the grid. Source: issues 14 and 77
 * of github.com/binance/binance-public-data.
 */
export function mayBeOffGrid(openTime: number): boolean {
  return openTime < ALWAYS_ON_GRID
}

/**
 * The time of a series without the stretches of candles that the exchange has off the grid; ascending, ms UTC. A stretch lasts
 * until its last candle should end. That is after the next candle opens, which may therefore lack trades: it opens in the
 * stretch. `before` is the open time of the last candle before the table, if known. The first candle sets a 3d grid.
 */
export function findOnGridSpans(series: Series, table: CandleTable, before?: number): WindowSpan[] {
  const spans: WindowSpan[] = []
  const rows = table.rowFrom(ALWAYS_ON_GRID)
  const grid = buildSeriesGrid(series, rows > 0 ? table.openTime(0) : before)
  let startTime = -Infinity
  let wasOffGrid = false
  const add = (openTime: number, closeTime: number) => {
    const isOffGrid = grid.offset(openTime) !== 0
    if (isOffGrid && !wasOffGrid && startTime < openTime) spans.push({ startTime, endTime: openTime })
    if (isOffGrid) startTime = Math.max(nextOpenTime(series.interval, openTime), closeTime + 1)
    wasOffGrid = isOffGrid
  }
  if (before !== undefined && mayBeOffGrid(before)) add(before, before)
  for (let row = 0; row < rows; row++) add(table.openTime(row), table.closeTime(row))
  return [...spans, { startTime, endTime: Infinity }]
}
