import { COLUMNS } from '../../candles/columns.js'
import type { WindowRef } from '../../candles/series.js'
import type { TimeRange } from '../../candles/time-range.js'
import { SAMPLE } from '../../sources/base-url.js'
import { count, derived, flag, integer, list, maybe, object, oneOf, optional, text, time } from '../schema.js'

/** Fields that several reports have. */

export const seriesName = { symbol: text(), interval: text() }
export const mirror = text('folder of the mirror')
export const baseUrl = maybe(text(), 'base address that the candles come from; null for a tree without mirror.json')
export const sample = derived(
  flag('whether the candles are the synthetic sample data'),
  (result: { readonly baseUrl?: string | undefined }) => result.baseUrl === SAMPLE,
)
export const range = object({
  from: derived(time(), ({ fromTime }: TimeRange) => fromTime),
  to: derived(time(), ({ toTime }: TimeRange) => toTime),
})
export const location = { baseUrl, sample, mirror, range }

/** A cell that a source has changed. */
export const changedCell = object({
  openTime: integer(),
  column: oneOf(COLUMNS),
  before: maybe(text(), 'null for a candle that was added'),
  after: maybe(text(), 'null for one that was withdrawn'),
})

export const coverage = object({
  interval: text('the length of the candles that are counted, of a resampled series the new one'),
  requested: object({ from: time(), to: time() }),
  first: time(),
  last: time(),
  shortAtStart: count('closed candles of the range that are missing before the first one'),
  shortAtEnd: count('closed candles of the range that are missing after the last one'),
  isBeginning: optional(flag('true where the first candle counts as the beginning of the series')),
})

export const fingerprint = {
  ...seriesName,
  fingerprint: text('klines:1: and a SHA-256 in hex'),
  candles: count(),
  firstOpenTime: integer(),
  lastOpenTime: integer(),
  years: list(
    object({
      year: integer(),
      candles: count(),
      sha256: text('of the lines of the candles that open in that year, UTC'),
    }),
    'the years that have candles',
  ),
}
export const set = maybe(text(), 'fingerprint of all series, from two on: klines:1:set: and a SHA-256 in hex')

/** A window that is missing or corrupt. */
export const failure = {
  startDate: derived(text(), (failure: { readonly window: WindowRef }) => failure.window.startDate),
  reason: text(),
}

export const SYNTHETIC = 'These candles are synthetic sample data, not prices of any exchange.'

export function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}

/** The sum of a number of several objects. */
export function sumOf<Key extends string>(all: readonly Readonly<Record<Key, number>>[], key: Key): number {
  return sum(all.map(one => one[key]))
}
