import { DAY_MS, EXCHANGE_INTERVALS } from '../klines/intervals.js'
import { hasListingDate } from '../klines/resample/candle-grid.js'
import {
  hasListingGrid,
  isMultiple,
  parseTargetInterval,
  type TargetInterval,
} from '../klines/resample/target-interval.js'
import type { SeriesLabel } from '../klines/series.js'

const LONGER = ['1q', '1y', '2y', '5y', '10y', '20y', '50y', '100y']
/** 3d, 1w and others that do not start with the day fit into no calendar unit: they are doubled. 4,096 weeks are 78 years. */
const MAX_DOUBLING = 4096
const MAX_AMOUNT = 99_999

/**
 * The intervals that a series can be resampled to for a picture, shortest first, its own not among them. `anchor`: open time of
 * any 3d candle of the symbol, ms UTC; without it and a known listing date, 3d is not among them.
 */
export function resampleLadder({ symbol, interval: source }: SeriesLabel, anchor?: number): TargetInterval[] {
  const hasAnchor = anchor !== undefined || hasListingDate(symbol)
  const { length } = parseTargetInterval(source)
  const doubled = 'ms' in length && DAY_MS % length.ms !== 0 ? doublings(source) : []
  return [...EXCHANGE_INTERVALS, ...LONGER, ...doubled]
    .map(name => ({ ...parseTargetInterval(name), anchor }))
    .filter(target => isMultiple(target, source) && (hasAnchor || !hasListingGrid(target)))
}

/** A length to compare intervals by, in ms: a month counts as 30 days. */
export function approximateLength({ length }: TargetInterval): number {
  return 'ms' in length ? length.ms : length.months * 30 * DAY_MS
}

function doublings(source: string): string[] {
  const [amount, unit] = [Number(source.slice(0, -1)), source.slice(-1)]
  const names: string[] = []
  for (let factor = 2; factor <= MAX_DOUBLING && amount * factor <= MAX_AMOUNT; factor *= 2) {
    names.push(`${amount * factor}${unit}`)
  }
  return names
}
