import type { AnomalyKind } from '../../../klines/audit/anomaly-log.js'
import type { SeriesReport } from '../../../verify/series-report.js'
import type { VerificationReport } from '../../../verify/verify.js'
import { sum } from '../sum.js'
import { type Judgement, listFaults } from './verdict.js'

/** `verify --json`. All counts are exact; the lists of a series have the first 10,000 candles, and the first 1,000 runs without trades. */
export function verifyObject(result: VerificationReport, { verdict, series }: Judgement): object {
  const { mirror, range, pairs, differences } = result
  const time = (value: number | undefined) => (value !== undefined && Number.isFinite(value) ? value : null)
  return {
    mirror,
    verdict,
    range: { from: time(range?.fromTime), to: time(range?.toTime) },
    totals: {
      series: series.length,
      candles: sum(series.map(({ report }) => report.candles)),
      windows: sum(series.map(({ report }) => report.windows)),
      missingWindows: sum(series.map(({ missingWindows }) => missingWindows)),
      corruptWindows: sum(series.map(({ corruptWindows }) => corruptWindows)),
      differentCandles: sum(series.map(({ differing }) => differing)),
      invalidCandles: sum(series.map(({ invalid }) => invalid)),
      gaps: sum(series.map(({ report }) => report.gaps.length)),
      missingCandles: sum(series.map(({ report }) => countMissing(report))),
      notes: sum(series.map(({ notes }) => notes)),
    },
    series: series.map(({ report }) => seriesObject(report)),
    comparisons: sum(pairs.map(pair => pair.comparisons)),
    pairs,
    differences,
  }
}

function seriesObject(report: SeriesReport): object {
  const { symbol, interval, candles, firstOpenTime = null, lastOpenTime = null } = report
  const { windows, missingWindows, corrupt, gaps, unverified = null, invalid, olderThan = null } = report
  const { counts, withoutTrades, runsWithoutTrades } = report
  return {
    ...{ symbol, interval, candles, firstOpenTime, lastOpenTime, windows, missingWindows, corrupt, gaps },
    missing: countMissing(report),
    counts: { earlyClose: counts.early_close, zeroTrades: withoutTrades, offGrid: counts.old_off_grid, invalid },
    earlyClose: openTimes(report, 'early_close'),
    zeroTrades: runsWithoutTrades,
    offGrid: openTimes(report, 'old_off_grid'),
    faults: listFaults(report),
    unverified,
    olderThan,
  }
}

/** Candles missing in all gaps. */
function countMissing({ gaps }: SeriesReport): number {
  return sum(gaps.map(gap => gap.missing))
}

/** The open times of the candles that are listed with an anomaly. */
function openTimes({ anomalies }: SeriesReport, kind: AnomalyKind): number[] {
  return anomalies.filter(anomaly => anomaly.kind === kind).map(({ openTime }) => openTime)
}
