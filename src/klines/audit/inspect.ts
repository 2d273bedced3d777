import { COLUMNS, type Column } from '../columns.js'
import { nextOpenTime } from '../intervals.js'
import { findAnomalies } from '../kernel/candle-compare.js'
import { type CandleTable, DECIMALS } from '../kernel/candle-table.js'
import { buildSeriesGrid, type CandleGrid } from '../resample/candle-grid.js'
import type { Series } from '../series.js'
import type { WindowSpan } from '../windows.js'
import { findGaps, type Gap } from './gaps.js'
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

/** Checks the candles of a series, in order of time, and the time between them. */
export class SeriesInspector {
  private readonly grid: CandleGrid
  private readonly gaps: Gap[] = []
  private readonly anomalies: Anomaly[] = []
  private candles = 0
  private lastOpenTime: number | undefined

  /**
   * The first candle sets a 3d grid; `before` is the open time of the last candle before it, if that is known; ms UTC. Both are
   * undefined for a series without candles.
   */
  constructor(
    private readonly series: Series,
    private readonly firstOpenTime: number | undefined,
    private readonly before?: number,
  ) {
    this.grid = buildSeriesGrid(series, firstOpenTime ?? before)
  }

  /**
   * Checks rows `start` to the end of a table. `spans`: the time whose candles are all loaded; `finerSpans`: windows that belong
   * to a finer series (`findFinerRow`); both up to the last row. Volumes need no check for negative values: the codec accepts no
   * sign.
   */
  add(table: CandleTable, start: number, spans: readonly WindowSpan[], finerSpans: readonly WindowSpan[] = []): void {
    const { series, grid, anomalies } = this
    const { interval } = series
    for (const row of rowsToCheck(table, start, grid)) {
      const openTime = table.openTime(row)
      const note: Note = (kind, description) => anomalies.push({ kind, openTime, description })
      const previous = row > start ? table.openTime(row - 1) : (this.lastOpenTime ?? this.before)
      if (previous !== undefined) {
        this.gaps.push(...findGaps(interval, grid, spans, previous, openTime))
        noteOrder(previous, openTime, note)
      }
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
    if (table.length === start) return
    this.candles += table.length - start
    this.lastOpenTime = table.openTime(table.length - 1)
  }

  /** The findings. `after`: the open time of the candle after the last one, if known, ms UTC; `spans` up to it. */
  end(spans: readonly WindowSpan[], after?: number): Inspection {
    const { series, grid, gaps, anomalies, candles, firstOpenTime, lastOpenTime } = this
    const last = lastOpenTime ?? this.before
    if (last !== undefined && after !== undefined) gaps.push(...findGaps(series.interval, grid, spans, last, after))
    return { candles, firstOpenTime, lastOpenTime, gaps, anomalies }
  }
}

/** The rows from `start` on that may have an anomaly; all of them for months, which are few and have no fixed length. */
function rowsToCheck(table: CandleTable, start: number, { step, anchor }: CandleGrid): Iterable<number> {
  if (step !== undefined) return findAnomalies(table, start, step, anchor)
  return Array.from({ length: table.length - start }, (_, row) => start + row)
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
