import { mayBeOffGrid } from '../candle-times.js'
import { COLUMNS, type Column } from '../columns.js'
import { nextOpenTime } from '../intervals.js'
import { type CandleTable, DECIMALS, findAnomalies, findRunsWithoutTrades } from '../kernel/candle-table.js'
import { buildSeriesGrid, type CandleGrid } from '../resample/candle-grid.js'
import type { Series } from '../series.js'
import type { WindowSpan } from '../windows.js'
import { type AnomalyFindings, type AnomalyKind, AnomalyLog } from './anomaly-log.js'
import { findGaps, type Gap } from './gaps.js'

/** The findings about one series. */
export interface Inspection extends AnomalyFindings {
  readonly candles: number
  readonly firstOpenTime: number | undefined
  readonly lastOpenTime: number | undefined
  readonly gaps: readonly Gap[]
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
const [HIGH, LOW] = [place('high'), place('low')]
/** The volumes that are zero without a trade. */
const VOLUMES = (['volume', 'quote_volume'] as const).map(name => ({ name, place: place(name) }))

/** Checks the candles of a series, in order of time, and the time between them. */
export class SeriesInspector {
  private readonly grid: CandleGrid
  private readonly gaps: Gap[] = []
  private readonly log = new AnomalyLog()
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
   * to a finer series (`findFinerRow`); both up to the last row. The codec accepts no negative
   * value and no late close.
   */
  add(table: CandleTable, start: number, spans: readonly WindowSpan[], finerSpans: readonly WindowSpan[] = []): void {
    const { series, grid, log } = this
    const { interval } = series
    for (const row of rowsToCheck(table, start, grid)) {
      const openTime = table.openTime(row)
      const note: Note = (kind, describe) => log.note(kind, openTime, describe)
      const previous = row > start ? table.openTime(row - 1) : (this.lastOpenTime ?? this.before)
      if (previous !== undefined) {
        this.gaps.push(...findGaps(interval, grid, spans, previous, openTime))
        noteOrder(previous, openTime, note)
      }
      const offset = grid.offset(openTime)
      if (offset !== 0) {
        const isOld =
          mayBeOffGrid(openTime) && !finerSpans.some(span => openTime >= span.startTime && openTime < span.endTime)
        note(isOld ? 'old_off_grid' : 'off_grid', () => `opens ${offset} ms off the grid`)
      }
      const early = nextOpenTime(interval, openTime) - 1 - table.closeTime(row)
      if (early > 0) note('early_close', () => `closes ${early} ms early`)
      noteValues(table, row, note)
    }
    if (table.length === start) return
    const runs = findRunsWithoutTrades(table, start)
    for (let index = 0; index < runs.length; index += 2) {
      const [row, rows] = [runs[index], runs[index + 1]]
      log.addRun(table.openTime(row), table.closeTime(row + rows - 1) + 1, rows)
    }
    this.candles += table.length - start
    this.lastOpenTime = table.openTime(table.length - 1)
  }

  /**
   * The findings. `after`: the open time of the candle after the last one, or until when candles are known to be missing, if
   * either is known, ms UTC; `spans` up to it. A gap ends with the last whole candle that fits in.
   */
  end(spans: readonly WindowSpan[], after?: number): Inspection {
    const { series, grid, gaps, log, candles, firstOpenTime, lastOpenTime } = this
    const last = lastOpenTime ?? this.before
    if (last !== undefined && after !== undefined) {
      const found = findGaps(series.interval, grid, spans, last, after)
      gaps.push(...found.map(gap => (gap.endTime === after ? { ...gap, endTime: grid.start(after) } : gap)))
    }
    return { candles, firstOpenTime, lastOpenTime, gaps, ...log.findings }
  }
}

/** The rows from `start` on that may have an anomaly; all of them for months, which are few and have no fixed length. */
function rowsToCheck(table: CandleTable, start: number, { step, anchor }: CandleGrid): Iterable<number> {
  if (step !== undefined) return findAnomalies(table, start, step, anchor)
  return Array.from({ length: table.length - start }, (_, row) => start + row)
}

type Note = (kind: AnomalyKind, describe: () => string) => void

/** Notes a duplicate or a wrong order of a candle and the one before it. */
function noteOrder(before: number, openTime: number, note: Note): void {
  if (openTime === before) note('duplicate', () => 'opens when the one before does')
  else if (openTime < before) note('out_of_order', () => 'opens before the one before')
}

/** Notes prices and volumes that are impossible. */
function noteValues(table: CandleTable, row: number, note: Note): void {
  for (const { names, places } of ORDERED_PAIRS) {
    const [less, more] = places
    if (table.amount(row, less) <= table.amount(row, more)) continue
    const [name, other] = names
    note('invalid_values', () => `${name} ${table.decimal(row, less)} is above ${other} ${table.decimal(row, more)}`)
  }
  if (table.count(row) === 0) noteTrades(table, row, note)
}

/** Notes what a candle without a trade cannot have: prices that differ, or a volume. */
function noteTrades(table: CandleTable, row: number, note: Note): void {
  if (table.amount(row, HIGH) > table.amount(row, LOW)) {
    const [high, low] = [table.decimal(row, HIGH), table.decimal(row, LOW)]
    note('invalid_values', () => `count is 0, but high ${high} is above low ${low}`)
  }
  for (const { name, place } of VOLUMES) {
    if (table.amount(row, place) === 0n) continue
    note('invalid_values', () => `count is 0, but ${name} is ${table.decimal(row, place)}`)
  }
}
