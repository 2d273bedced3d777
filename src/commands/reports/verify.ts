import { coverage, mirror, range, seriesName, sum, sumOf } from '../../cli/fields.js'
import * as s from '../../cli/report.js'
import type { Inspection } from '../../verify/inspect.js'
import type { JudgedSeries } from '../../verify/verdict.js'
import type { VerificationReport } from '../../verify/verify.js'
import { verifyText } from './verify-text.js'

/** The number of something in all series. */
function total(of: (series: JudgedSeries) => number) {
  return s.derived(s.count(), ({ series }: VerificationReport) => sum(series.map(of)))
}

const totals = s.object({
  series: total(() => 1),
  candles: total(({ candles }) => candles),
  windows: total(({ windows }) => windows),
  missingWindows: total(({ missingWindows }) => missingWindows.length),
  corruptWindows: total(({ corrupt }) => corrupt.length),
  differentCandles: total(({ differing }) => differing),
  invalidCandles: total(({ counts }) => counts.invalid),
  gaps: total(({ gaps }) => gaps.length),
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

function counted(head: string, of: (series: JudgedSeries) => number) {
  return s.column(head, s.count(), of)
}

/** The columns of `-f csv`, a row for each series. */
const CSV = {
  ...seriesName,
  windows: s.column('windows', s.count()),
  missingWindows: counted('missing windows', ({ missingWindows }) => missingWindows.length),
  corrupt: counted('corrupt windows', ({ corrupt }) => corrupt.length),
  candles: s.column('candles', s.count()),
  firstOpenTime: s.column('first (UTC)', s.time()),
  lastOpenTime: s.column('last (UTC)', s.time()),
  gaps: counted('gaps', ({ gaps }) => gaps.length),
  missing: s.column('missing candles', s.count()),
  early: counted('early close', ({ counts }) => counts.earlyClose),
  withoutTrades: counted('no trade', ({ counts }) => counts.zeroTrades),
  invalid: counted('invalid', ({ counts }) => counts.invalid),
  differing: s.column('different', s.count()),
  notes: s.column('notes', s.count()),
  unverified: s.column('unverified', s.count()),
}

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
    flags.format === 'csv' ? s.csvOf(CSV, result.series) : verifyText(result, flags),
)
