import Type from 'typebox'
import {
  Count,
  count,
  coverage,
  flag,
  Integer,
  integer,
  list,
  mirror,
  nullable,
  object,
  oneOf,
  range,
  report,
  seriesName,
  Text,
  Time,
  text,
} from './words.js'

const diffSide = object({
  name: text('as it was named'),
  kind: oneOf(['file', 'mirror', 'service'], 'file: also a lake'),
})
const sideName = oneOf(['a', 'b'])

/** `diff --json`. */
export const DiffSchema = report('klines-diff', {
  verdict: oneOf(
    ['equal', 'different', 'incomplete', 'empty'],
    'incomplete: windows are missing, and all else is equal; empty: neither side has a candle in the range',
  ),
  a: diffSide,
  b: diffSide,
  range,
  series: list(
    object({
      ...seriesName,
      both: count('candles that both sides have'),
      changedCandles: Count,
      changedCells: Count,
      onlyInA: count('candles that only side A has'),
      onlyInB: count('candles that only side B has'),
      beyond: count('of these, candles before the first or after the last one of the other side'),
      notCompared: count('candles in windows that the other side lacks'),
      total: count('differences, of which consecutive candles of one side are one'),
      coverage: object(
        { a: nullable(coverage), b: nullable(coverage) },
        'of each side; null for a file, and for a range without a named end',
      ),
      failures: list(object({ side: sideName, startDate: Text, reason: Text }), 'windows that are missing or corrupt'),
    }),
  ),
  isWhole: flag('whether all differences are listed, as with -v; else the first 20 a series'),
  differences: list(
    Type.Union([
      object({ ...seriesName, kind: Type.Literal('cell'), openTime: Integer, column: Text, a: Text, b: Text }),
      object({
        ...seriesName,
        kind: Type.Literal('only'),
        side: sideName,
        position: oneOf(['before', 'inside', 'after'], 'before the first or after the last candle of the other side'),
        firstOpenTime: Integer,
        lastOpenTime: Integer,
        candles: count('all from the first to the last one'),
      }),
    ]),
    'of each series in order of time',
  ),
})

const candleRun = { startTime: integer('ms since the epoch, UTC'), endTime: Integer }
const openTimes = list(Integer, 'open times, the first 10,000')

/** `verify --json`. The counts are exact. */
export const VerifySchema = report('klines-verify', {
  mirror,
  verdict: oneOf(
    ['ok', 'short', 'empty', 'incomplete', 'failed'],
    'short: nothing is wrong, and less is there than was requested; empty: no candle; incomplete: windows are missing',
  ),
  range,
  totals: object({
    series: Count,
    candles: Count,
    windows: Count,
    missingWindows: Count,
    corruptWindows: Count,
    differentCandles: Count,
    invalidCandles: Count,
    gaps: Count,
    missingCandles: Count,
    notes: Count,
  }),
  series: list(
    object({
      ...seriesName,
      candles: Count,
      firstOpenTime: Time,
      lastOpenTime: Time,
      windows: Count,
      missingWindows: list(Text, 'start dates'),
      corrupt: list(object({ startDate: Text, reason: Text })),
      gaps: list(
        object({
          ...candleRun,
          missing: Count,
          outage: flag('whether another symbol lacks candles then, too'),
        }),
      ),
      missing: count('candles missing in the gaps'),
      counts: object({ earlyClose: Count, zeroTrades: Count, offGrid: Count, invalid: Count }),
      earlyClose: openTimes,
      zeroTrades: list(object({ ...candleRun, candles: Count }), 'stretches without a trade, the first 1,000'),
      offGrid: openTimes,
      faults: list(
        object({
          kind: oneOf(['off_grid', 'invalid_values']),
          openTime: Integer,
          description: Text,
        }),
        'the first 10,000 of each kind',
      ),
      unverified: count('candles that were compared with no finer ones'),
      coverage,
    }),
  ),
  comparisons: Count,
  pairs: list(object({ ...seriesName, finer: Text, comparisons: Count }), 'intervals that were compared'),
  differences: list(
    object({
      ...seriesName,
      finer: text('interval of the finer candles'),
      openTime: Integer,
      column: Type.Optional(text('missing when one of the candles is')),
      value: Text,
      expected: Text,
      note: Type.Optional(text('why it is no fault')),
    }),
  ),
})

export type VerifyObject = Type.Static<typeof VerifySchema>
export type DiffObject = Type.Static<typeof DiffSchema>
