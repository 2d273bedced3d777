import Type from 'typebox'
import {
  baseUrl,
  Count,
  coverage,
  fingerprint,
  flag,
  Integer,
  integer,
  list,
  mirror,
  nullable,
  object,
  oneOf,
  report,
  seriesName,
  set,
  Text,
  text,
} from './words.js'

/** `fingerprint --json`. */
export const FingerprintSchema = report('klines-fingerprint', {
  series: list(
    object({
      ...fingerprint,
      coverage: Type.Optional(coverage),
      file: Type.Optional(text('file or folder that the candles are in')),
      named: Type.Optional(flag('whether a file of doubles names the fingerprint, so that it was not computed')),
    }),
  ),
  set,
})

const digest = nullable(object({ candles: Count, sha256: Text }), 'of the candles of that year; null without one')
const lockRange = object({
  from: integer('first open time, ms since the epoch, UTC'),
  to: integer('end of the open times, which is not part of them'),
})

/** `lock --json`. */
export const LockSchema = report('klines-lock', {
  path: text('the lock file'),
  baseUrl,
  mirror,
  series: list(object({ ...fingerprint, range: lockRange })),
  set,
  replaced: flag('whether there was another lock'),
  changes: list(
    object({
      ...seriesName,
      change: oneOf(['added', 'removed', 'changed']),
      years: list(Integer, 'the years whose candles differ'),
    }),
    'the series that differ from the lock that was replaced',
  ),
})

const lockedCandles = object({ fingerprint: Text, candles: Count })

/** `verify --lock --json`. */
export const LockCheckSchema = report('klines-lock-check', {
  path: text('the lock file'),
  baseUrl,
  mirror,
  verdict: oneOf(['equal', 'different', 'incomplete'], 'incomplete: no year differs, and windows are missing'),
  series: list(
    object({
      ...seriesName,
      range: lockRange,
      locked: lockedCandles,
      found: nullable(lockedCandles, 'null without a candle in the range'),
      years: list(
        object({ year: Integer, locked: digest, found: digest }),
        'the years that differ, as far as all their windows are there',
      ),
      missing: list(object({ startDate: Text, reason: Text }), 'windows that cannot be read'),
    }),
  ),
})

export type FingerprintObject = Type.Static<typeof FingerprintSchema>
export type LockObject = Type.Static<typeof LockSchema>
export type LockCheckObject = Type.Static<typeof LockCheckSchema>
