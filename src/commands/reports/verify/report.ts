import { report } from '../../../cli/report.js'
import { coverage, mirror, range, seriesName, sum, sumOf } from '../../../cli/reports/fields.js'
import {
  count,
  derived,
  type Field,
  flag,
  integer,
  list,
  object,
  oneOf,
  optional,
  text,
  time,
} from '../../../cli/schema.js'
import { type AnomalyKind, listFaults } from '../../../verify/inspect.js'
import type { JudgedSeries, VerifiedSeries } from '../../../verify/verdict.js'
import type { VerificationReport } from '../../../verify/verify.js'
import { seriesCsv } from './tables.js'
import { verifyText } from './text.js'

/** The number of something in all series. */
function total(of: (series: JudgedSeries) => number): Field<number> {
  return derived(count(), ({ series }: VerificationReport) => sum(series.map(of)))
}

/** Candles missing in all gaps. */
function countMissing({ gaps }: VerifiedSeries): number {
  return sumOf(gaps, 'missing')
}

const totals = object({
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

const candleRun = { startTime: integer('ms since the epoch, UTC'), endTime: integer() }

/** The open times of the candles that are listed with an anomaly. */
function openTimes(kind: AnomalyKind): Field<readonly number[]> {
  return derived(list(integer(), 'open times, the first 10,000'), ({ anomalies }: VerifiedSeries) =>
    anomalies.filter(anomaly => anomaly.kind === kind).map(({ openTime }) => openTime),
  )
}

/** A number of candles of a series. */
function counted(of: (series: VerifiedSeries) => number): Field<number> {
  return derived(count(), of)
}

const series = object({
  ...seriesName,
  candles: count(),
  firstOpenTime: time(),
  lastOpenTime: time(),
  windows: count(),
  missingWindows: list(text(), 'start dates'),
  corrupt: list(object({ startDate: text(), reason: text() })),
  gaps: list(
    object({ ...candleRun, missing: count(), outage: flag('whether another symbol lacks candles then, too') }),
  ),
  missing: derived(count('candles missing in the gaps'), countMissing),
  counts: derived(
    object({
      earlyClose: counted(({ counts }) => counts.early_close),
      zeroTrades: counted(({ withoutTrades }) => withoutTrades),
      offGrid: counted(({ counts }) => counts.old_off_grid),
      invalid: count(),
    }),
    (one: VerifiedSeries) => one,
  ),
  earlyClose: openTimes('early_close'),
  zeroTrades: derived(
    list(object({ ...candleRun, candles: count() }), 'stretches without a trade, the first 1,000'),
    ({ runsWithoutTrades }: VerifiedSeries) => runsWithoutTrades,
  ),
  offGrid: openTimes('old_off_grid'),
  faults: derived(
    list(
      object({ kind: oneOf(['off_grid', 'invalid_values']), openTime: integer(), description: text() }),
      'the first 10,000 of each kind',
    ),
    listFaults,
  ),
  unverified: count('candles that were compared with no finer ones'),
  coverage,
})

const difference = object({
  ...seriesName,
  finer: text('interval of the finer candles'),
  openTime: integer(),
  column: optional(text('missing when one of the candles is')),
  value: text(),
  expected: text(),
  note: optional(text('why it is no fault')),
})

/** `verify`: the verdict, what fails, the outages of the exchange, and the notes. The counts of `--json` are exact. */
export const Verify = report(
  'klines-verify',
  {
    mirror,
    verdict: oneOf(
      ['ok', 'short', 'empty', 'incomplete', 'failed'],
      'short: nothing is wrong, and less is there than was requested; empty: no candle; incomplete: windows are missing',
    ),
    range,
    totals: derived(totals, (result: VerificationReport) => result),
    series: list(series),
    comparisons: derived(count(), ({ pairs }: VerificationReport) => sumOf(pairs, 'comparisons')),
    pairs: list(object({ ...seriesName, finer: text(), comparisons: count() }), 'intervals that were compared'),
    differences: list(difference),
  },
  (result: VerificationReport, flags) =>
    flags.format === 'csv' ? seriesCsv(result.series) : verifyText(result, flags),
)
