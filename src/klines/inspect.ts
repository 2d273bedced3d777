import { type CandleTable, DECIMALS, WIDTH } from './candle-table.js'
import { COLUMNS } from './columns.js'
import { gridOffset } from './grid.js'
import { nextOpenTime, stepsBetween } from './intervals.js'
import type { Series } from './series.js'

/** Candles that are not there: the exchange was away, or a hole. Times in ms UTC. */
export interface Gap {
  /** When the first candle that is missing would open. */
  readonly startTime: number
  /** When the next candle that is there opens. */
  readonly endTime: number
  readonly missing: number
}

/** What a candle can have that should not be, or that a user of it should know. */
export type OddityKind = 'early_close' | 'zero_trades' | 'duplicate' | 'disorder' | 'off_grid' | 'insane'

/** A candle with an oddity. */
export interface Oddity {
  readonly kind: OddityKind
  readonly openTime: number
  /** In words, with the values. */
  readonly what: string
}

/** What a series is like. */
export interface Inspection {
  readonly candles: number
  readonly firstOpenTime: number | undefined
  readonly lastOpenTime: number | undefined
  readonly gaps: readonly Gap[]
  readonly oddities: readonly Oddity[]
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
).map(([less, more]) => ({ less: place(less), more: place(more), what: `${less} is above ${more}` }))

/**
 * Looks at every candle of a series, in order of time. Volumes cannot be negative: the codec takes no sign. A 3d grid is taken
 * from the first candle (observed.md, "Grids").
 */
export function inspect(series: Series, table: CandleTable): Inspection {
  const { length, openTimes } = table
  const gaps: Gap[] = []
  const oddities: Oddity[] = []
  const phase = series.interval === '3d' && length > 0 ? gridOffset('3d', openTimes[0]) : 0
  for (let row = 0; row < length; row++) {
    if (row > 0) step(series, openTimes[row - 1], openTimes[row], gaps, oddities)
    lookAt(series, table, row, phase, oddities)
  }
  return {
    candles: length,
    firstOpenTime: at(openTimes, 0, length),
    lastOpenTime: at(openTimes, length - 1, length),
    gaps,
    oddities,
  }
}

/** Where a candle stands behind the one before. */
function step({ interval }: Series, before: number, openTime: number, gaps: Gap[], oddities: Oddity[]): void {
  const due = nextOpenTime(interval, before)
  if (openTime === due) return
  if (openTime === before) oddities.push({ kind: 'duplicate', openTime, what: 'opens when the one before does' })
  else if (openTime < before) oddities.push({ kind: 'disorder', openTime, what: 'opens before the one before' })
  const missing = stepsBetween(interval, before, openTime) - 1
  if (missing > 0) gaps.push({ startTime: due, endTime: openTime, missing })
}

/** What a candle is in itself. */
function lookAt({ interval }: Series, table: CandleTable, row: number, phase: number, oddities: Oddity[]): void {
  const { openTimes, closeTimes, counts, whole, fraction } = table
  const openTime = openTimes[row]
  const note = (kind: OddityKind, what: string) => oddities.push({ kind, openTime, what })
  const offset = gridOffset(interval, openTime)
  if (offset !== phase) note('off_grid', `opens ${offset} ms off the grid`)
  const early = nextOpenTime(interval, openTime) - 1 - closeTimes[row]
  if (early > 0) note('early_close', `closes ${early} ms early`)
  else if (early < 0) note('insane', `closes ${-early} ms late`)
  if (counts[row] === 0) note('zero_trades', 'has no trade')
  const first = row * WIDTH
  for (const { less, more, what } of ORDERED) {
    const order = whole[first + less] - whole[first + more] || fraction[first + less] - fraction[first + more]
    if (order > 0) note('insane', what)
  }
}

function at(times: Float64Array, row: number, length: number): number | undefined {
  return length === 0 ? undefined : times[row]
}
