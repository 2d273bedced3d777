import { COLUMNS, type Column } from '../columns.js'
import { nextOpenTime } from '../intervals.js'
import { findAnomalies } from '../kernel/candle-compare.js'
import { type CandleTable, DECIMALS } from '../kernel/candle-table.js'
import { buildSeriesGrid, type CandleGrid } from '../resample/candle-grid.js'
import type { Series } from '../series.js'
import { COVERS_ALL, type Coverage, findGaps, type Gap } from './gaps.js'
import { mayBeOffGrid } from './off-grid.js'

/** Kinds of harmless oddities that users should know about, and of faults. `old_off_grid`: the exchange has the candle like this. */
export type AnomalyKind =
  | ('early_close' | 'zero_trades' | 'old_off_grid')
  | ('duplicate' | 'out_of_order' | 'off_grid' | 'invalid_values')

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
).map(names => ({ names, places: names.map(place) }))

/**
 * Checks the candles of a series, in order of time, and the time between them that `coverage` names. The first candle sets a 3d
 * grid. Volumes need no check for negative values: the codec accepts no sign.
 */
export function inspect(series: Series, table: CandleTable, coverage: Coverage = COVERS_ALL): Inspection {
  const { interval } = series
  const { length } = table
  const firstOpenTime = length === 0 ? undefined : table.openTime(0)
  const lastOpenTime = length === 0 ? undefined : table.openTime(length - 1)
  const { spans, finerSpans = [], before, after } = coverage
  const grid = buildSeriesGrid(series, firstOpenTime ?? before)
  const gaps: Gap[] = []
  const anomalies: Anomaly[] = []
  const noteGaps = (openTime: number | undefined, laterOpenTime: number | undefined) => {
    if (openTime === undefined || laterOpenTime === undefined) return
    gaps.push(...findGaps(interval, grid, spans, openTime, laterOpenTime))
  }
  for (const row of rowsToCheck(table, grid)) {
    const openTime = table.openTime(row)
    const note: Note = (kind, description) => anomalies.push({ kind, openTime, description })
    const previous = row > 0 ? table.openTime(row - 1) : before
    noteGaps(previous, openTime)
    if (previous !== undefined) noteOrder(previous, openTime, note)
    const offset = grid.offset(openTime)
    if (offset !== 0) {
      const isOld =
        mayBeOffGrid(openTime) && !finerSpans.some(span => openTime >= span.startTime && openTime < span.endTime)
      note(isOld ? 'old_off_grid' : 'off_grid', `opens ${offset} ms off the grid`)
    }
    const early = nextOpenTime(interval, openTime) - 1 - table.closeTime(row)
    if (early > 0) note('early_close', `closes ${early} ms early`)
    else if (early < 0) note('invalid_values', `close_time ${table.closeTime(row)} is ${-early} ms late`)
    if (table.count(row) === 0) note('zero_trades', 'has no trade')
    noteValues(table, row, note)
  }
  noteGaps(lastOpenTime ?? before, after)
  return { candles: length, firstOpenTime, lastOpenTime, gaps, anomalies }
}

/** The rows that may have an anomaly; all of them for months, which are few and have no fixed length. */
function rowsToCheck(table: CandleTable, { step, anchor }: CandleGrid): Iterable<number> {
  return step === undefined ? Array(table.length).keys() : findAnomalies(table, step, anchor)
}

type Note = (kind: AnomalyKind, description: string) => void

/** Notes a duplicate or a wrong order of a candle and the one before it. */
function noteOrder(before: number, openTime: number, note: Note): void {
  if (openTime === before) note('duplicate', 'opens when the one before does')
  else if (openTime < before) note('out_of_order', 'opens before the one before')
}

/** Notes prices and volumes that are impossible. */
function noteValues(table: CandleTable, row: number, note: Note): void {
  for (const { names, places } of ORDERED_PAIRS) {
    const [less, more] = places
    if (table.amount(row, less) <= table.amount(row, more)) continue
    const [name, other] = names
    note('invalid_values', `${name} ${table.decimal(row, less)} is above ${other} ${table.decimal(row, more)}`)
  }
}
