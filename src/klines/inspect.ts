import { type CandleTable, DECIMALS, WIDTH } from './candle-table.js'
import { COLUMNS } from './columns.js'
import { gridOffset } from './grid.js'
import { type Interval, nextOpenTime, stepsBetween } from './intervals.js'
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
  const { interval } = series
  const { length, openTimes, closeTimes, counts } = table
  const gaps: Gap[] = []
  const oddities: Oddity[] = []
  const phase = interval === '3d' && length > 0 ? gridOffset('3d', openTimes[0]) : 0
  // A month has no length; asking for every candle's next one takes as long as all the rest.
  const step = interval === '1M' ? undefined : nextOpenTime(interval, 0)
  let offset = phase
  let due = Number.NaN
  let openTime = Number.NaN
  const note = (kind: OddityKind, what: string) => oddities.push({ kind, openTime, what })
  for (let row = 0; row < length; row++) {
    openTime = openTimes[row]
    // The next candle of one on the grid is on the grid.
    if (openTime !== due || offset !== phase) offset = gridOffset(interval, openTime)
    if (openTime !== due && row > 0) noteStep(interval, openTimes[row - 1], openTime, gaps, note)
    if (offset !== phase) note('off_grid', `opens ${offset} ms off the grid`)
    due = step === undefined ? nextOpenTime(interval, openTime) : openTime + step
    const early = due - 1 - closeTimes[row]
    if (early > 0) note('early_close', `closes ${early} ms early`)
    else if (early < 0) note('insane', `closes ${-early} ms late`)
    if (counts[row] === 0) note('zero_trades', 'has no trade')
    if (!isOrdered(table, row)) for (const what of disorders(table, row)) note('insane', what)
  }
  return {
    candles: length,
    firstOpenTime: at(openTimes, 0, length),
    lastOpenTime: at(openTimes, length - 1, length),
    gaps,
    oddities,
  }
}

type Note = (kind: OddityKind, what: string) => void

/** Where a candle stands that does not follow the one before. */
function noteStep(interval: Interval, before: number, openTime: number, gaps: Gap[], note: Note): void {
  if (openTime === before) note('duplicate', 'opens when the one before does')
  else if (openTime < before) note('disorder', 'opens before the one before')
  const missing = stepsBetween(interval, before, openTime) - 1
  if (missing > 0) gaps.push({ startTime: nextOpenTime(interval, before), endTime: openTime, missing })
}

function isOrdered({ whole, fraction }: CandleTable, row: number): boolean {
  const first = row * WIDTH
  for (let index = 0; index < ORDERED.length; index++) {
    const less = first + ORDERED[index].less
    const more = first + ORDERED[index].more
    if (whole[less] > whole[more] || (whole[less] === whole[more] && fraction[less] > fraction[more])) return false
  }
  return true
}

/** In words, what is greater than it should be. */
function disorders({ whole, fraction }: CandleTable, row: number): string[] {
  const first = row * WIDTH
  return ORDERED.filter(({ less, more }) => {
    const order = whole[first + less] - whole[first + more] || fraction[first + less] - fraction[first + more]
    return order > 0
  }).map(({ what }) => what)
}

function at(times: Float64Array, row: number, length: number): number | undefined {
  return length === 0 ? undefined : times[row]
}
