import { COLUMNS } from '../columns.js'
import type { Interval } from '../intervals.js'
import { NO_ROW } from '../kernel/assembly/layout.js'
import { compareCandles } from '../kernel/candle-compare.js'
import { type CandleTable, DECIMALS } from '../kernel/candle-table.js'
import type { CandleGrid } from '../resample/target-interval.js'
import type { Series } from '../series.js'
import type { SymbolName } from '../symbols.js'
import type { WindowSpan } from '../windows.js'

/** A series as it is held. */
export interface LoadedSeries {
  readonly series: Series
  /** Its candles, in order of time. */
  readonly table: CandleTable
  /** Stretches for which all candles are held that there are, ascending, ms UTC. */
  readonly spans: readonly WindowSpan[]
}

/** A candle of the exchange that is not what its finer candles add up to. */
export interface Difference {
  readonly symbol: SymbolName
  readonly interval: Interval
  /** What it was compared with. */
  readonly finer: Interval
  readonly openTime: number
  /** Undefined when one of the two is not there at all. */
  readonly column: (typeof COLUMNS)[number] | undefined
  /** What the candle says. */
  readonly value: string
  /** What the finer ones add up to. */
  readonly expected: string
  /** Whether this is how the exchange has it, for good (observed.md). */
  readonly note: boolean
}

/** What came of holding one series against another. */
export interface SeriesComparison {
  readonly comparisons: number
  readonly differences: readonly Difference[]
}

/** BTCUSDT 6h at 2017-09-06 12:00: the exchange's own close time is 1 ms off what its 2h candles say (observed.md). */
const KNOWN = {
  symbol: 'BTCUSDT',
  interval: '6h',
  finer: '2h',
  openTime: Date.UTC(2017, 8, 6, 12),
  column: 'close_time',
}

/** What is compared besides decimals. */
const OTHERS = COLUMNS.map((_, column) => column).filter(
  column => !DECIMALS.includes(column) && COLUMNS[column] !== 'open_time',
)

/**
 * Holds a series against the candles `made` of a finer one, all tables of one kernel, wherever both are held from a candle's
 * start to its end; marks in the coarser table what was compared.
 */
export function compareSeries(
  finer: LoadedSeries,
  coarser: LoadedSeries,
  made: CandleTable,
  grid: CandleGrid,
): SeriesComparison {
  const { table, series } = coarser
  const differences: Difference[] = []
  const differ = (openTime: number, column: Difference['column'], value: string, expected: string) => {
    const { symbol, interval } = series
    const found = { symbol, interval, finer: finer.series.interval, openTime, column }
    const note = Object.entries(KNOWN).every(([key, of]) => found[key as keyof typeof found] === of)
    differences.push({ ...found, value, expected, note })
  }
  let comparisons = 0
  for (const { startTime, endTime } of overlaps(finer.spans, coarser.spans)) {
    // The candle under way at the end is held in part. One off the grid goes with the stretch it opens in.
    const { times, pairs } = compareCandles(made, table, startTime, grid.start(endTime))
    comparisons += times
    for (const [row, other] of pairs) {
      if (other === NO_ROW) differ(made.openTime(row), undefined, 'no candle', `${made.rows(row)} finer candles`)
      else if (row === NO_ROW) differ(table.openTime(other), undefined, 'a candle', 'no finer candle')
      else {
        for (const column of differingColumns(made, row, table, other)) {
          differ(made.openTime(row), COLUMNS[column], table.text(other, column), made.text(row, column))
        }
      }
    }
  }
  return { comparisons, differences }
}

/** Zeros in front and at the end of a decimal say nothing. */
function differingColumns(made: CandleTable, row: number, table: CandleTable, other: number): number[] {
  return [
    ...DECIMALS.filter((_, place) => made.amount(row, place) !== table.amount(other, place)),
    ...OTHERS.filter(column => made.text(row, column) !== table.text(other, column)),
  ]
}

/** The stretches that lie in both of two lists, which ascend. */
function overlaps(one: readonly WindowSpan[], other: readonly WindowSpan[]): WindowSpan[] {
  const found: WindowSpan[] = []
  for (let [first, second] = [0, 0]; first < one.length && second < other.length; ) {
    const startTime = Math.max(one[first].startTime, other[second].startTime)
    const endTime = Math.min(one[first].endTime, other[second].endTime)
    if (startTime < endTime) found.push({ startTime, endTime })
    if (one[first].endTime === endTime) first++
    else second++
  }
  return found
}
