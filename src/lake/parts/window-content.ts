import type { FileContent } from '../../export/file-content.js'
import type { SeriesTotals } from '../../klines/audit/gap-counter.js'

/** A window that a part was made of. One without a file, of a complete mirror, has the size 0. */
export interface WindowContent extends FileContent {
  readonly startDate: string
  /** Of its candles, as `packTotals` makes them; undefined when they were not counted. */
  readonly totals?: PackedTotals | undefined
}

/** The totals of a window's candles: their number, open times of the first and the last (ms UTC), gaps, missing candles. Empty without candles. */
export type PackedTotals = readonly number[]

/** The totals of a window as the manifest has them. */
export function packTotals({ candles, firstOpenTime, lastOpenTime, gaps, missing }: SeriesTotals): PackedTotals {
  return firstOpenTime === undefined || lastOpenTime === undefined
    ? []
    : [candles, firstOpenTime, lastOpenTime, gaps, missing]
}

/** The totals that `packTotals` made. */
export function unpackTotals([
  candles = 0,
  firstOpenTime,
  lastOpenTime,
  gaps = 0,
  missing = 0,
]: PackedTotals): SeriesTotals {
  return { candles, firstOpenTime, lastOpenTime, gaps, missing }
}
