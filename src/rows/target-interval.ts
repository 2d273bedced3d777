import { KlinesError } from '../candles/errors.js'
import { DAY_MS, monthIndex, monthStart, UNIT_MS } from '../candles/intervals.js'

/** Months of the calendar units. */
const UNIT_MONTHS = { M: 1, q: 3, y: 12 } as const
const MAX_MONTHS = 1200

const FORMS = 'Expected a number and m, h, d, w, M, q or y, such as 45m, 3h, 2d, 2w, 1q or 1y'

/**
 * A length that candles are resampled to, aligned as the exchange aligns its own: weeks from Monday 5 January 1970,
 * multiples of 3d from the symbol's listing, months, quarters and years by the calendar (several months from January of
 * the year 0), other lengths from the epoch.
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

/**
 * The name of an interval that stands for its length, however it was written: `60m` is `1h`, `24h` is `1d` and `12M` is
 * `1y`. It has the largest unit that fits. Throws `unknown_interval`.
 */
export function intervalName(text: string): string {
  const { length } = parseTargetInterval(text)
  const [amount, units] = 'ms' in length ? [length.ms, UNIT_MS] : [length.months, UNIT_MONTHS]
  const fitting = Object.entries(units).filter(([, size]) => amount % size === 0)
  const [unit, size] = fitting[fitting.length - 1]
  return `${amount / size}${unit}`
}

/** Throws `bad_option` unless each candle of the target consists of whole candles of `source`, and of more than one. */
export function checkMultiple(target: TargetInterval, source: string): void {
  if (isMultiple(target, source)) return
  throw new KlinesError('bad_option', `${target.name} candles cannot be built from ${source} candles.`, {
    suggestions: [`Expected a longer interval that whole ${source} candles fit into, or a finer one with -i.`],
    data: { source, target: target.name },
  })
}

/**
 * Whether each candle of the target consists of whole candles of `source`, an interval such as `1h` or a resampled one
 * such as `3h`, and of more than one.
 */
export function isMultiple({ length }: TargetInterval, source: string): boolean {
  const { length: part } = parseTargetInterval(source)
  if ('months' in part) return 'months' in length && length.months > part.months && length.months % part.months === 0
  // Lengths that divide a day start at midnight UTC; others keep the anchor of their kind.
  const startsWithDay = DAY_MS % part.ms === 0
  if ('months' in length) return startsWithDay
  if (length.ms <= part.ms || length.ms % part.ms !== 0) return false
  return startsWithDay || origin(length.ms) === origin(part.ms)
}

/** What candles of a length in ms are counted from; `listing`: multiples of 3d that are not whole weeks. */
function origin(ms: number): 'listing' | 'monday' | 'epoch' {
  if (ms % UNIT_MS.w === 0) return 'monday'
  return ms % (3 * DAY_MS) === 0 ? 'listing' : 'epoch'
}

/** Whether the candles of a target are counted from the symbol's listing. */
export function hasListingGrid({ length }: TargetInterval): boolean {
  return 'ms' in length && origin(length.ms) === 'listing'
}

function badTarget(text: string, expected: string): KlinesError {
  return new KlinesError('unknown_interval', `"${text}" is no interval to resample to. ${expected}.`, {
    data: { interval: text },
  })
}

/** The number of slots from one candle to a later one: at least 1, also where a candle off the grid is closer. */
export function slotsBetween({ length }: TargetInterval, openTime: number, laterOpenTime: number): number {
  if ('ms' in length) return Math.max(1, Math.floor((laterOpenTime - openTime) / length.ms))
  return Math.max(1, Math.floor((monthIndex(laterOpenTime) - monthIndex(openTime)) / length.months))
}

/** The open time of the slot that is `steps` slots after the one at `openTime`, or before it, ms UTC. */
export function slotAfter({ length }: TargetInterval, openTime: number, steps: number): number {
  return 'ms' in length ? openTime + steps * length.ms : monthStart(monthIndex(openTime) + steps * length.months)
}
