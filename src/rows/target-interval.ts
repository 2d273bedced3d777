import { KlinesError } from '../candles/errors.js'
import {
  addLengths,
  countLengths,
  DAY_MS,
  floorToLength,
  type Length,
  parseLength,
  UNITS,
} from '../candles/intervals.js'

/**
 * A length that candles are resampled to, aligned as the exchange aligns its own: weeks from Monday 5 January 1970,
 * multiples of 3d from the symbol's listing, months, quarters and years by the calendar (several months from January of
 * the year 0), other lengths from the epoch.
 */
export interface TargetInterval {
  /** As it was written, such as `3h`. */
  readonly name: string
  readonly length: Length
  /** When any candle of the symbol's 3d grid opens, ms UTC. Default: the listing date, which is known of the ten `SYMBOLS`. */
  readonly anchor?: number | undefined
}

/** Throws `bad_option` on anything but a whole number and a unit. */
export function parseTargetInterval(text: string): TargetInterval {
  const name = text.trim()
  const length = parseLength(name)
  if (length) return { name, length }
  const expected = 'Expected a number and m, h, d, w, M, q or y, such as 45m, 3h, 2d, 2w, 1q or 1y.'
  throw new KlinesError('bad_option', `Cannot resample to "${text}". ${expected}`, { data: { interval: text } })
}

/** The one name of a length, with the largest unit that fits: `60m` is `1h`, `24h` is `1d`. Throws `bad_option`. */
export function intervalName(text: string): string {
  const { length } = parseTargetInterval(text)
  const end = addLengths(length, 0)
  const fitting = Object.entries(UNITS).filter(
    ([, unit]) => 'ms' in unit === 'ms' in length && floorToLength(unit, 0, end) === end,
  )
  const [unit, size] = fitting[fitting.length - 1]
  return `${countLengths(size, 0, end)}${unit}`
}

export function checkMultiple(target: TargetInterval, source: string): void {
  if (isMultiple(target, source)) return
  throw new KlinesError('bad_option', `${target.name} candles cannot be built from ${source} candles.`, {
    suggestions: [`Expected a longer interval that whole ${source} candles fit into, or a finer one with -i.`],
    data: { source, target: target.name },
  })
}

/** Whether each candle of the target consists of whole candles of `source`, and of more than one. */
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
  if (ms % (7 * DAY_MS) === 0) return 'monday'
  return ms % (3 * DAY_MS) === 0 ? 'listing' : 'epoch'
}

/** Whether the candles of a target are counted from the symbol's listing. */
export function hasListingGrid({ length }: TargetInterval): boolean {
  return 'ms' in length && origin(length.ms) === 'listing'
}
