import { KlinesError } from '../errors.js'
import { DAY_MS, HOUR_MS, type Interval, MINUTE_MS, nextOpenTime } from '../intervals.js'

/** Milliseconds of the units that have a fixed length. */
const UNIT_MS = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS } as const
/** Months of the calendar units. */
const UNIT_MONTHS = { M: 1, q: 3, y: 12 } as const
const MAX_MONTHS = 1200

const FORMS = 'Expected a number and m, h, d, w, M, q or y, such as 45m, 3h, 2d, 2w, 1q or 1y'

/**
 * A length that candles are resampled to, aligned as the exchange aligns its own: weeks from Monday 5 January 1970, multiples
 * of 3d from the symbol's listing, months, quarters and years by the calendar (several months from January of the year 0),
 * other lengths from the epoch.
 */
export interface TargetInterval {
  /** As it was written, such as `3h`. */
  readonly name: string
  /** Length in ms, or in months. */
  readonly length: { readonly ms: number } | { readonly months: number }
  /** When any candle of the symbol's 3d grid opens, ms UTC. Default: the listing date, which is known of the ten `SYMBOLS`. */
  readonly anchor?: number | undefined
}

/** Throws `unknown_interval` on anything but a whole number and a unit. */
export function parseTargetInterval(text: string): TargetInterval {
  const name = text.trim()
  const [, digits, unit] = /^([1-9]\d{0,4})([mhdwMqy])$/.exec(name) ?? []
  const amount = Number(digits)
  if (unit === undefined) throw badTarget(text, FORMS)
  if (unit in UNIT_MS) return { name, length: { ms: amount * UNIT_MS[unit as keyof typeof UNIT_MS] } }
  const months = amount * UNIT_MONTHS[unit as keyof typeof UNIT_MONTHS]
  if (months > MAX_MONTHS) throw badTarget(text, 'Expected 100 years at the most')
  return { name, length: { months } }
}

/** One of the service's own intervals as a target. */
export function toTarget(interval: Interval): TargetInterval {
  return parseTargetInterval(interval)
}

/** Throws `bad_option` unless each candle of the target consists of whole candles of `source`, and of more than one. */
export function checkMultiple(target: TargetInterval, source: Interval): void {
  if (isMultiple(target, source)) return
  throw new KlinesError('bad_option', `${target.name} candles cannot be built from ${source} candles.`, {
    suggestions: [
      `Expected a longer interval that whole ${source} candles fit into, or a finer one with \`intervals\`.`,
    ],
    data: { source, target: target.name },
  })
}

/** Whether each candle of the target consists of whole candles of `source`, and of more than one. */
export function isMultiple({ length }: TargetInterval, source: Interval): boolean {
  if (source === '1M') return 'months' in length && length.months > 1
  const sourceMs = nextOpenTime(source, 0)
  // Candles of up to a day start with the day; those of 3d and 1w have anchors of their own.
  if ('months' in length) return sourceMs <= DAY_MS
  if (length.ms <= sourceMs || length.ms % sourceMs !== 0) return false
  return sourceMs <= DAY_MS || startsAtListing(length.ms) === startsAtListing(sourceMs)
}

/** Whether candles of this length in ms are counted from the symbol's listing: multiples of 3d that are not whole weeks. */
export function startsAtListing(ms: number): boolean {
  return ms > 0 && ms % (3 * DAY_MS) === 0 && ms % UNIT_MS.w !== 0
}

/** Whether the candles of a target are counted from the symbol's listing. */
export function hasListingGrid({ length }: TargetInterval): boolean {
  return 'ms' in length && startsAtListing(length.ms)
}

function badTarget(text: string, expected: string): KlinesError {
  return new KlinesError('unknown_interval', `"${text}" is no interval to resample to. ${expected}.`, {
    data: { interval: text },
  })
}
