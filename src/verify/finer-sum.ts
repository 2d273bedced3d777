import { COLUMNS, type Column } from '../candles/columns.js'
import { EXCHANGE_INTERVALS, type Interval, nextOpenTime } from '../candles/intervals.js'
import type { Series } from '../candles/series.js'
import { planWindows, type TimeRange } from '../candles/time-range.js'
import type { Run } from '../engine/run.js'
import { inTurns } from '../mirror/turns.js'
import { CandleTable, groupCandles } from '../rows/candle-table.js'
import { isMultiple, parseTargetInterval } from '../rows/target-interval.js'
import { Kernel } from '../rows/wasm/kernel.js'
import { differingColumns } from './compare.js'
import { SeriesReader } from './series-reader.js'

type Reading = Pick<Run, 'mirror' | 'signal'>

/** A candle beside what the cached candles of the finest interval that covers it add up to. */
export interface CandleSum extends Series {
  readonly openTime: number
  /** The 12 cells as text. */
  readonly cells: readonly string[]
  /** Undefined when no finer interval of the mirror covers the candle. */
  readonly finer:
    | {
        readonly interval: Interval
        readonly candles: number
        readonly cells: readonly string[]
        readonly differing: readonly Column[]
      }
    | undefined
}

/** The candles of a series that open in a range, few of them. Throws `mirror_unusable`. */
export async function sumFiner(run: Reading, { symbol, interval }: Series, range: TimeRange): Promise<CandleSum[]> {
  const { isPrice } = run.mirror.rules.market ?? {}
  const kernel = new Kernel()
  const own = await readRange(run, { symbol, interval }, range, kernel)
  const { table } = own
  const found = Array.from({ length: table.length }, (_, row): CandleSum => {
    return { symbol, interval, openTime: table.openTime(row), cells: cellsOf(table, row), finer: undefined }
  })
  for (const part of EXCHANGE_INTERVALS.filter(part => isMultiple(parseTargetInterval(interval), part))) {
    const left = found.filter(({ finer }) => finer === undefined)
    if (left.length === 0) break
    const toTime = nextOpenTime(interval, left[left.length - 1].openTime)
    const finer = await readRange(run, { symbol, interval: part }, { fromTime: left[0].openTime, toTime }, kernel)
    const sums = groupCandles(finer.table, own.grid)
    for (const [row, candle] of found.entries()) {
      const { openTime } = candle
      const endTime = Math.min(nextOpenTime(interval, openTime), table.closeTime(row) + 1)
      const sum = sums.rowFrom(openTime)
      // A candle off the grid, or in such a stretch, does not add up.
      const isOnGrid = own.spans.some(span => span.startTime <= openTime && span.endTime > openTime)
      const isCovered = finer.spans.some(span => span.startTime <= openTime && span.endTime >= endTime)
      if (candle.finer || !isOnGrid || !isCovered || sums.rowFrom(openTime + 1) === sum) continue
      const differing = differingColumns(table, row, sums, sum, isPrice).map(column => COLUMNS[column])
      found[row] = {
        ...candle,
        finer: { interval: part, candles: sums.rows(sum), cells: cellsOf(sums, sum), differing },
      }
    }
  }
  return found
}

async function readRange(
  { mirror, signal }: Reading,
  series: Series,
  range: TimeRange,
  kernel: Kernel,
): Promise<SeriesReader> {
  const windows = planWindows(series, mirror.dates(series), range, Infinity)
  const task = { series, isNamed: false, windows }
  const reader = new SeriesReader(mirror, task, new CandleTable(kernel), { range, readTo: range.toTime })
  for await (const _ of inTurns(windows, signal)) reader.readNext()
  return reader
}

function cellsOf(table: CandleTable, row: number): string[] {
  return COLUMNS.map((_, column) => table.text(row, column))
}
