import { COLUMNS } from './columns.js'
import { gridOffset } from './grid.js'
import { nextOpenTime, stepsBetween } from './intervals.js'
import type { KlineBatch } from './kline-batch.js'
import { RowValues } from './row-values.js'
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

const column = (name: (typeof COLUMNS)[number]) => COLUMNS.indexOf(name)
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
).map(([less, more]) => ({ less: column(less), more: column(more), what: `${less} is above ${more}` }))

/**
 * Looks at every candle of a series, batch by batch in order of time. Volumes cannot be negative: the codec takes no sign. A 3d
 * grid is taken from the first candle (observed.md, "Grids").
 */
export class Inspector {
  private candles = 0
  private first: number | undefined
  private last: number | undefined
  private readonly gaps: Gap[] = []
  private readonly oddities: Oddity[] = []
  private readonly values = new RowValues()

  constructor(private readonly series: Series) {}

  /** Throws `digits_lost` at a decimal too long to be compared exactly. */
  add(batch: KlineBatch): void {
    for (let row = 0; row < batch.length; row++) {
      this.values.read(batch, row)
      this.place(batch.openTime(row))
      this.look()
    }
    this.candles += batch.length
  }

  get result(): Inspection {
    const { candles, first: firstOpenTime, last: lastOpenTime, gaps, oddities } = this
    return { candles, firstOpenTime, lastOpenTime, gaps, oddities }
  }

  /** Where a candle stands among the others. */
  private place(openTime: number): void {
    const { interval } = this.series
    this.first ??= openTime
    const offset = gridOffset(interval, openTime)
    if (offset !== (interval === '3d' ? gridOffset(interval, this.first) : 0)) {
      this.note('off_grid', openTime, `opens ${offset} ms off the grid`)
    }
    if (this.last !== undefined) {
      if (openTime === this.last) this.note('duplicate', openTime, 'opens when the one before does')
      else if (openTime < this.last) this.note('disorder', openTime, 'opens before the one before')
      const missing = stepsBetween(interval, this.last, openTime) - 1
      if (missing > 0) this.gaps.push({ startTime: nextOpenTime(interval, this.last), endTime: openTime, missing })
    }
    this.last = openTime
  }

  /** What a candle is in itself. */
  private look(): void {
    const { openTime, closeTime, count, whole, fraction } = this.values
    const due = nextOpenTime(this.series.interval, openTime) - 1
    if (closeTime < due) this.note('early_close', openTime, `closes ${due - closeTime} ms early`)
    else if (closeTime > due) this.note('insane', openTime, `closes ${closeTime - due} ms late`)
    if (count === 0) this.note('zero_trades', openTime, 'has no trade')
    for (const { less, more, what } of ORDERED) {
      const order = whole[less] - whole[more] || fraction[less] - fraction[more]
      if (order > 0) this.note('insane', openTime, what)
    }
  }

  private note(kind: OddityKind, openTime: number, what: string): void {
    this.oddities.push({ kind, openTime, what })
  }
}
