import { COLUMNS, type Column } from '../columns.js'
import { type Interval, nextOpenTime, stepsBetween } from '../intervals.js'
import { findAnomalies } from '../kernel/candle-compare.js'
import { type CandleTable, DECIMALS } from '../kernel/candle-table.js'
import { buildSeriesGrid, type CandleGrid } from '../resample/candle-grid.js'
import type { Series } from '../series.js'

/** Missing candles: an outage of the exchange, or lost data. Times in ms UTC. */
export interface Gap {
  /** When the first missing candle would open. */
  readonly startTime: number
  /** When the next existing candle opens. */
  readonly endTime: number
  readonly missing: number
}

/** Kinds of faults and of harmless oddities that users should know about (`early_close`, `zero_trades`). */
export type AnomalyKind = 'early_close' | 'zero_trades' | 'duplicate' | 'out_of_order' | 'off_grid' | 'invalid_values'

/** A candle with an anomaly. */
export interface Anomaly {
  readonly kind: AnomalyKind
  readonly openTime: number
  /** For people, with the values. */
  readonly description: string
}

/** The findings about one series. */
export interface Inspection {
  readonly candles: number
  readonly firstOpenTime: number | undefined
  readonly lastOpenTime: number | undefined
  readonly gaps: readonly Gap[]
  readonly anomalies: readonly Anomaly[]
}

const place = (name: Column) => DECIMALS.indexOf(COLUMNS.indexOf(name))
/** Pairs of decimals whose first must not be greater than the second. */
const ORDERED_PAIRS = (
  [
    ['low', 'open'],
    ['low', 'close'],
    ['open', 'high'],
    ['close', 'high'],
    ['taker_buy_volume', 'volume'],
    ['taker_buy_quote_volume', 'quote_volume'],
  ] as const
).map(([less, more]) => ({ less: place(less), more: place(more), description: `${less} is above ${more}` }))

/**
 * Checks the candles of a series, in order of time. The first candle sets a 3d grid. Volumes need no check for negative values:
 * the codec accepts no sign.
 */
export function inspect(series: Series, table: CandleTable): Inspection {
  const { interval } = series
  const { length } = table
  const firstOpenTime = length === 0 ? undefined : table.openTime(0)
  const grid = buildSeriesGrid(series, firstOpenTime)
  const gaps: Gap[] = []
  const anomalies: Anomaly[] = []
  for (const row of rowsToCheck(table, grid)) {
    const openTime = table.openTime(row)
    const note: Note = (kind, description) => anomalies.push({ kind, openTime, description })
    if (row > 0) noteStep(interval, table.openTime(row - 1), openTime, gaps, note)
    const offset = grid.offset(openTime)
    if (offset !== 0) note('off_grid', `opens ${offset} ms off the grid`)
    const early = nextOpenTime(interval, openTime) - 1 - table.closeTime(row)
    if (early > 0) note('early_close', `closes ${early} ms early`)
    else if (early < 0) note('invalid_values', `closes ${-early} ms late`)
    if (table.count(row) === 0) note('zero_trades', 'has no trade')
    for (const { less, more, description } of ORDERED_PAIRS) {
      if (table.amount(row, less) > table.amount(row, more)) note('invalid_values', description)
    }
  }
  const lastOpenTime = length === 0 ? undefined : table.openTime(length - 1)
  return { candles: length, firstOpenTime, lastOpenTime, gaps, anomalies }
}

/** The rows that may have an anomaly; all of them for months, which are few and have no fixed length. */
function rowsToCheck(table: CandleTable, { step, anchor }: CandleGrid): Iterable<number> {
  return step === undefined ? Array(table.length).keys() : findAnomalies(table, step, anchor)
}

type Note = (kind: AnomalyKind, description: string) => void

/** Notes a gap, a duplicate or a wrong order between a candle and the one before it. */
function noteStep(interval: Interval, before: number, openTime: number, gaps: Gap[], note: Note): void {
  if (openTime === before) note('duplicate', 'opens when the one before does')
  else if (openTime < before) note('out_of_order', 'opens before the one before')
  const missing = stepsBetween(interval, before, openTime) - 1
  if (missing > 0) gaps.push({ startTime: nextOpenTime(interval, before), endTime: openTime, missing })
}
