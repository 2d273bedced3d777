import { coverage, mirror, range, seriesName, sum, sumOf } from '../../cli/fields.js'
import type { Field } from '../../cli/report.js'
import * as s from '../../cli/report.js'
import { type AnomalyKind, listFaults } from '../../verify/inspect.js'
import type { JudgedSeries, VerifiedSeries } from '../../verify/verdict.js'
import type { VerificationReport } from '../../verify/verify.js'
import { verifyText } from './verify-text.js'

/** The number of something in all series. */
function total(of: (series: JudgedSeries) => number): Field<number> {
  return s.derived(s.count(), ({ series }: VerificationReport) => sum(series.map(of)))
}

/** Candles missing in all gaps. */
function countMissing({ gaps }: VerifiedSeries): number {
  return sumOf(gaps, 'missing')
}

const totals = s.object({
  series: total(() => 1),
  candles: total(({ candles }) => candles),
  windows: total(({ windows }) => windows),
  missingWindows: total(({ missingWindows }) => missingWindows.length),
  corruptWindows: total(({ corrupt }) => corrupt.length),
  differentCandles: total(({ differing }) => differing),
  invalidCandles: total(({ invalid }) => invalid),
  gaps: total(({ gaps }) => gaps.length),
  missingCandles: total(countMissing),
  notes: total(({ notes }) => notes),
})

const candleRun = { startTime: s.integer('ms since the epoch, UTC'), endTime: s.integer() }

/** The open times of the candles that are listed with an anomaly. */
function openTimes(kind: AnomalyKind): Field<readonly number[]> {
  return s.derived(s.list(s.integer(), 'open times, the first 10,000'), ({ anomalies }: VerifiedSeries) =>
    anomalies.filter(anomaly => anomaly.kind === kind).map(({ openTime }) => openTime),
  )
}

/** A number of candles of a series. */
function counted(of: (series: VerifiedSeries) => number): Field<number> {
  return s.derived(s.count(), of)
}

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
  missing: s.derived(s.count('candles missing in the gaps'), countMissing),
  counts: s.derived(
    s.object({
      earlyClose: counted(({ counts }) => counts.early_close),
      zeroTrades: counted(({ withoutTrades }) => withoutTrades),
      offGrid: counted(({ counts }) => counts.old_off_grid),
      invalid: s.count(),
    }),
    (one: VerifiedSeries) => one,
  ),
  earlyClose: openTimes('early_close'),
  zeroTrades: s.derived(
    s.list(s.object({ ...candleRun, candles: s.count() }), 'stretches without a trade, the first 1,000'),
    ({ runsWithoutTrades }: VerifiedSeries) => runsWithoutTrades,
  ),
  offGrid: openTimes('old_off_grid'),
  faults: s.derived(
    s.list(
      s.object({ kind: s.oneOf(['off_grid', 'invalid_values']), openTime: s.integer(), description: s.text() }),
      'the first 10,000 of each kind',
    ),
    listFaults,
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

/** The columns of `-f csv`, a row for each series. */
const CSV = {
  symbol: s.column('symbol', s.text()),
  interval: s.column('interval', s.text()),
  windows: s.column('windows', s.count()),
  missingWindows: s.column(
    'missing windows',
    counted(({ missingWindows }) => missingWindows.length),
  ),
  corrupt: s.column(
    'corrupt windows',
    counted(({ corrupt }) => corrupt.length),
  ),
  candles: s.column('candles', s.count()),
  firstOpenTime: s.column('first (UTC)', s.time()),
  lastOpenTime: s.column('last (UTC)', s.time()),
  gaps: s.column(
    'gaps',
    counted(({ gaps }) => gaps.length),
  ),
  missing: s.column('missing candles', counted(countMissing)),
  early: s.column(
    'early close',
    counted(({ counts }) => counts.early_close),
  ),
  withoutTrades: s.column('no trade', s.count()),
  invalid: s.column('invalid', s.count()),
  differing: s.column('different', s.count()),
  notes: s.column('notes', s.count()),
  unverified: s.column('unverified', s.count()),
}

/** `verify`: the verdict, what fails, the outages of the exchange, and the notes. The counts of `--json` are exact. */
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
