import { COLUMNS } from '../columns.js'
import { FIRST_MONDAY, type Interval, nextOpenTime, stepsBetween } from '../intervals.js'
import { findAnomalies } from '../kernel/candle-compare.js'
import { type CandleTable, DECIMALS } from '../kernel/candle-table.js'
import type { Series } from '../series.js'
import { gridOffset } from './grid.js'

/** Candles that are not there: the exchange was away, or a hole. Times in ms UTC. */
export interface Gap {
  /** When the first candle that is missing would open. */
  readonly startTime: number
  /** When the next candle that is there opens. */
  readonly endTime: number
  readonly missing: number
}

/** What a candle can have that should not be, or that a user of it should know. */
export type AnomalyKind = 'early_close' | 'zero_trades' | 'duplicate' | 'out_of_order' | 'off_grid' | 'invalid_values'

/** A candle with an anomaly. */
export interface Anomaly {
  readonly kind: AnomalyKind
  readonly openTime: number
  /** In words, with the values. */
  readonly description: string
}

/** What a series is like. */
export interface Inspection {
  readonly candles: number
  readonly firstOpenTime: number | undefined
  readonly lastOpenTime: number | undefined
  readonly gaps: readonly Gap[]
  readonly anomalies: readonly Anomaly[]
}

const place = (name: (typeof COLUMNS)[number]) => DECIMALS.indexOf(COLUMNS.indexOf(name))
/** Pairs of which the first must not be greater than the second. */
const ORDERED = (
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
 * Looks at every candle of a series, in order of time. Volumes cannot be negative: the codec takes no sign. A 3d grid is taken
 * from the first candle (observed.md, "Grids").
 */
export function inspect(series: Series, table: CandleTable): Inspection {
  const { interval } = series
  const { length } = table
  const gaps: Gap[] = []
  const anomalies: Anomaly[] = []
  const phase = interval === '3d' && length > 0 ? gridOffset('3d', table.openTime(0)) : 0
  for (const row of rowsToLookAt(interval, table)) {
    const openTime = table.openTime(row)
    const note: Note = (kind, description) => anomalies.push({ kind, openTime, description })
    if (row > 0) noteStep(interval, table.openTime(row - 1), openTime, gaps, note)
    const offset = gridOffset(interval, openTime)
    if (offset !== phase) note('off_grid', `opens ${offset} ms off the grid`)
    const early = nextOpenTime(interval, openTime) - 1 - table.closeTime(row)
    if (early > 0) note('early_close', `closes ${early} ms early`)
    else if (early < 0) note('invalid_values', `closes ${-early} ms late`)
    if (table.count(row) === 0) note('zero_trades', 'has no trade')
    for (const description of disorders(table, row)) note('invalid_values', description)
  }
  return {
    candles: length,
    firstOpenTime: length === 0 ? undefined : table.openTime(0),
    lastOpenTime: length === 0 ? undefined : table.openTime(length - 1),
    gaps,
    anomalies,
  }
}

/** Those rows about which there can be anything to say. */
function rowsToLookAt(interval: Interval, table: CandleTable): Iterable<number> {
  // Months have no length; there are few of them.
  if (interval === '1M') return Array.from({ length: table.length }, (_, row) => row)
  const anchor = interval === '1w' ? FIRST_MONDAY : interval === '3d' && table.length > 0 ? table.openTime(0) : 0
  return findAnomalies(table, nextOpenTime(interval, 0), anchor)
}

type Note = (kind: AnomalyKind, description: string) => void

/** Where a candle stands that does not follow the one before. */
function noteStep(interval: Interval, before: number, openTime: number, gaps: Gap[], note: Note): void {
  if (openTime === before) note('duplicate', 'opens when the one before does')
  else if (openTime < before) note('out_of_order', 'opens before the one before')
  const missing = stepsBetween(interval, before, openTime) - 1
  if (missing > 0) gaps.push({ startTime: nextOpenTime(interval, before), endTime: openTime, missing })
}

/** In words, what is greater than it should be. */
function disorders(table: CandleTable, row: number): string[] {
  return ORDERED.filter(({ less, more }) => table.amount(row, less) > table.amount(row, more)).map(
    ({ description }) => description,
  )
}
