import type { SeriesReport, VerificationReport } from '../../../verify/verify.js'
import { sum } from '../sum.js'
import { openTimes } from './tables.js'
import { type Judgement, listFaults } from './verdict.js'

/** `verify --json`. */
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
  const { windows, missingWindows, corrupt, gaps, unverified = null } = report
  return {
    ...{ symbol, interval, candles, firstOpenTime, lastOpenTime, windows, missingWindows, corrupt, gaps },
    missing: countMissing(report),
    earlyClose: openTimes(report, 'early_close'),
    zeroTrades: openTimes(report, 'zero_trades'),
    offGrid: openTimes(report, 'old_off_grid'),
    faults: listFaults(report),
    unverified,
  }
}

/** Candles missing in all gaps. */
function countMissing({ gaps }: SeriesReport): number {
  return sum(gaps.map(gap => gap.missing))
}
