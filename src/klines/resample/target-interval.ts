import { KlinesError } from '../errors.js'
import { DAY_MS, FIRST_MONDAY, HOUR_MS, type Interval, MINUTE_MS, nextOpenTime } from '../intervals.js'
import type { SymbolName } from '../symbols.js'
import { parseDate } from '../windows.js'

/** Where each symbol's 3d grid begins: its listing date (observed.md, "Grids"). */
const LISTING_DATES: Record<SymbolName, string> = {
  BTCUSDT: '2017-08-17',
  ETHUSDT: '2017-08-17',
  BNBUSDT: '2017-11-06',
  ADAUSDT: '2018-04-17',
  XRPUSDT: '2018-05-04',
  LINKUSDT: '2019-01-16',
  DOGEUSDT: '2019-07-05',
  SOLUSDT: '2020-08-11',
  DOTUSDT: '2020-08-18',
  AVAXUSDT: '2020-09-22',
}

/** Milliseconds of units that have one length. */
const UNIT_MS = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS } as const
/** Months of units that have none. */
const UNIT_MONTHS = { M: 1, q: 3, y: 12 } as const
/** The longest there is. */
const MAX_MONTHS = 1200

const FORMS = 'Expected a number and m, h, d, w, M, q or y, such as 45m, 3h, 2d, 2w, 1q or 1y'

/**
 * A length that candles are resampled to, aligned as the exchange aligns: weeks from Mondays, multiples of 3d from the
 * symbol's own grid, which begins with its listing, months, quarters and years from the calendar; other lengths from the epoch, several weeks from
 * Monday 5 January 1970, several months from January of the year 0.
 */
export interface TargetInterval {
  /** As it was written, such as `3h`. */
  readonly name: string
  /** Length in ms, or in months. */
  readonly length: { readonly ms: number } | { readonly months: number }
  /** When any candle of the symbol's own 3d grid opens, ms UTC; default: its listing date. */
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

/** The stretches of time that a symbol's candles of a target cover: when each opens, and when the next one does, ms UTC. */
export class CandleGrid {
  /** Their length in ms; undefined for months. */
  readonly step: number | undefined
  /** Where one of them opens that has a length in ms, ms UTC. */
  readonly anchor: number
  private readonly months: number

  constructor({ length, anchor: own }: TargetInterval, symbol: SymbolName) {
    const ms = 'ms' in length ? length.ms : 0
    this.step = ms || undefined
    this.months = 'ms' in length ? 0 : length.months
    this.anchor = isThreeDays(ms) && own !== undefined ? own : findAnchor(ms, symbol)
  }

  /** When the candle that holds `time` opens. */
  start(time: number): number {
    const { step, anchor } = this
    if (step !== undefined) return anchor + Math.floor((time - anchor) / step) * step
    return monthStart(Math.floor(monthIndex(time) / this.months) * this.months)
  }

  /** When the next candle opens after the one that opens at `start`. */
  end(start: number): number {
    return this.step !== undefined ? start + this.step : monthStart(monthIndex(start) + this.months)
  }
}

/** Throws `bad_option` unless each candle of the target is made of whole candles of `source`, and of more than one. */
export function checkMultiple(target: TargetInterval, source: Interval): void {
  if (isMultiple(target, source)) return
  throw new KlinesError('bad_option', `${target.name} candles cannot be made of ${source} candles.`, {
    suggestions: [`Expected a longer interval that whole ${source} candles fit into, or a finer one with -i.`],
    data: { source, target: target.name },
  })
}

/** Whether each candle of the target is made of whole candles of `source`, and of more than one. */
export function isMultiple({ length }: TargetInterval, source: Interval): boolean {
  if (source === '1M') return 'months' in length && length.months > 1
  const sourceMs = nextOpenTime(source, 0)
  // Candles of a day and less begin with the day; those of 3d and 1w keep a step of their own.
  if ('months' in length) return sourceMs <= DAY_MS
  if (length.ms <= sourceMs || length.ms % sourceMs !== 0) return false
  return sourceMs <= DAY_MS || findAnchor(length.ms, 'BTCUSDT') === findAnchor(sourceMs, 'BTCUSDT')
}

/** The target that one of the service's own intervals is. */
export function toTarget(interval: Interval): TargetInterval {
  return parseTargetInterval(interval)
}

function findAnchor(ms: number, symbol: SymbolName): number {
  if (ms % UNIT_MS.w === 0) return FIRST_MONDAY
  return isThreeDays(ms) ? parseDate(LISTING_DATES[symbol]) : 0
}

function isThreeDays(ms: number): boolean {
  return ms > 0 && ms % (3 * DAY_MS) === 0 && ms % UNIT_MS.w !== 0
}

/** The month that holds `time`, counted from January of the year 0. */
function monthIndex(time: number): number {
  const date = new Date(time)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/** The first of a month, counted from January of the year 0. */
function monthStart(months: number): number {
  const date = new Date(0)
  date.setUTCFullYear(Math.floor(months / 12), months % 12, 1)
  return date.getTime()
}

function badTarget(text: string, expected: string): KlinesError {
  return new KlinesError('unknown_interval', `"${text}" is no interval to resample to. ${expected}.`, {
    data: { interval: text },
  })
}
