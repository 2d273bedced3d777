import { coverage, mirror, range, seriesName, sum, sumOf } from '../../cli/fields.js'
import * as s from '../../cli/report.js'
import { shortSentences } from '../../rows/coverage.js'
import type { Inspection } from '../../verify/inspect.js'
import type { JudgedSeries } from '../../verify/verdict.js'
import type { VerificationReport } from '../../verify/verify.js'
import { SERIES, verifyText } from './verify-text.js'

function total(of: (series: JudgedSeries) => number) {
  return s.derived(s.count(), ({ series }: VerificationReport) => sum(series.map(of)))
}

const totals = s.object({
  series: total(() => 1),
  candles: total(({ candles }) => candles),
  windows: total(({ windows }) => windows),
  missingWindows: total(SERIES.missingWindows.of),
  corruptWindows: total(SERIES.corrupt.of),
  differentCandles: total(SERIES.differing.of),
  invalidCandles: total(SERIES.invalid.of),
  gaps: total(SERIES.gaps.of),
  missingCandles: total(({ missing }) => missing),
  notes: total(({ notes }) => notes),
})

const candleRun = { startTime: s.integer('ms since the epoch, UTC'), endTime: s.integer() }
const openTimes = s.list(
  { ...s.integer(), json: ({ openTime }: Inspection['earlyClose'][number]) => openTime },
  'open times, the first 10,000',
)

const series = s.object({
  ...seriesName,
  candles: s.count(),
  firstOpenTime: s.time(),
  lastOpenTime: s.time(),
  windows: s.count(),
  missingWindows: s.list(s.text(), 'start dates'),
  corrupt: s.list(s.object({ startDate: s.text(), reason: s.text() })),
  gaps: s.list(
    s.object({ ...candleRun, missing: s.count(), outage: s.flag('whether another symbol lacks candles then, too') }),
  ),
  missing: s.count('candles missing in the gaps'),
  counts: s.object({ earlyClose: s.count(), zeroTrades: s.count(), offGrid: s.count(), invalid: s.count() }),
  earlyClose: openTimes,
  zeroTrades: s.list(s.object({ ...candleRun, candles: s.count() }), 'stretches without a trade, the first 1,000'),
  offGrid: openTimes,
  faults: s.list(
    s.object({ kind: s.oneOf(['off_grid', 'invalid_values']), openTime: s.integer(), description: s.text() }),
    'the first 10,000 of each kind',
  ),
  unverified: s.count('candles that were compared with no finer ones'),
  coverage,
})

const difference = s.object({
  ...seriesName,
  finer: s.text('interval of the finer candles'),
  openTime: s.integer(),
  column: s.optional(s.text('missing when one of the candles is')),
  value: s.text(),
  expected: s.text(),
  note: s.optional(s.text('why it is no fault')),
})

/** `verify`. The counts of `--json` are exact. */
export const Verify = s.report(
  'klines-verify',
  {
    mirror,
    verdict: s.oneOf(
      ['ok', 'short', 'empty', 'incomplete', 'failed'],
      'short: nothing is wrong, and less is there than was requested; empty: no candle; incomplete: windows are missing',
    ),
    range,
    totals: s.derived(totals, (result: VerificationReport) => result),
    series: s.list(series),
    comparisons: s.derived(s.count(), ({ pairs }: VerificationReport) => sumOf(pairs, 'comparisons')),
    pairs: s.list(s.object({ ...seriesName, finer: s.text(), comparisons: s.count() }), 'intervals that were compared'),
    differences: s.list(difference),
  },
  (result: VerificationReport, flags) =>
    flags.format === 'csv' ? s.csvOf(SERIES, result.series) : verifyText(result, flags),
  {
    lacks: ({ series, range }) => {
      const counted = series.map(one => ({ ...one, gaps: one.gaps.length }))
      return shortSentences(counted, range)
    },
  },
)
