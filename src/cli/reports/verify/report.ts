import { formatCount, plural } from '../../../klines/text.js'
import { type AnomalyKind, listFaults } from '../../../verify/inspect.js'
import type { VerifiedSeries } from '../../../verify/verdict.js'
import type { VerificationReport } from '../../../verify/verify.js'
import { exactTime } from '../../terminal/text.js'
import { coverageObject, coverageText } from '../coverage.js'
import { type Report, rangeObject, sum, type Unchanged } from '../report.js'
import type { VerifyObject } from '../schema.js'
import { describeDifference, invalidLines, oddityLines, offGridLines } from './candles.js'
import { outageSections } from './outages.js'
import { failingTable, pairTable, seriesCsv, seriesTable, sumTable } from './tables.js'
import { verdictLine } from './verdict.js'
import { corruptLines, missingLines, repairLines } from './windows.js'

/** How a verification is shown. */
interface VerifyReportOptions {
  /** `csv`: a table of all series and nothing else. */
  readonly format?: string | undefined
  /** Everything: all series, gaps and pairs. */
  readonly verbose: boolean
  /** The flags of the command line that name the source and the mirror, each after a space. */
  readonly location: string
}

/** `verify`: the verdict, what fails, the outages of the exchange, and the notes. */
export function verifyReport(result: VerificationReport, options: VerifyReportOptions): Report<VerifyObject> {
  return {
    // Large, and only for --json.
    get json() {
      return verifyObject(result)
    },
    text: () => (options.format === 'csv' ? seriesCsv(result.series) : verifyText(result, options)),
  }
}

function verifyText(result: VerificationReport, { verbose, location }: VerifyReportOptions): string {
  const { series, pairs, range, baseUrl, outages, sums } = result
  const failing = series.filter(({ isFailing }) => isFailing)
  const symbols = new Set(series.map(({ symbol }) => symbol)).size
  const faults = result.faults.filter(({ note }) => note === undefined)
  const notes = result.faults.filter(({ note }) => note !== undefined)
  const sections = [
    verdictLine(result),
    failing.length > 0 && failingTable(failing),
    coverageText(series, { range, baseUrl, verbose }),
    titled('Missing windows:', missingLines(failing, verbose)),
    titled('Corrupt windows:', corruptLines(failing)),
    titled('Invalid candles (UTC):', failing.flatMap(invalidLines)),
    titled('Candles that differ from their finer candles (UTC):', faults.flatMap(describeDifference)),
    ...outageSections(outages, symbols, verbose),
    titled(
      'Notes: close times that differ by 1 ms in candles that close early (UTC):',
      notes.flatMap(describeDifference),
    ),
    titled('Notes: candles that the exchange itself has off the grid (UTC):', series.flatMap(offGridLines)),
    verbose && `All series, with candles that close early or have no trade:\n${seriesTable(series)}`,
    verbose &&
      titled('Gaps, early closes, candles off the grid and without trades (UTC):', series.flatMap(oddityLines)),
    verbose && pairs.length > 0 && `Comparisons with finer candles:\n${pairTable(pairs)}`,
    ...sums.map(sumTable),
    closingLines(result, location).join('\n'),
  ]
  return sections.filter(Boolean).join('\n\n')
}

function titled(title: string, lines: readonly string[]): string | undefined {
  return lines.length > 0 ? [title, ...lines].join('\n') : undefined
}

function closingLines(result: VerificationReport, location: string): string[] {
  const { series, range, mirror, verdict } = result
  const failing = series.filter(({ isFailing }) => isFailing)
  const { from, to } = range.named
  const unverified = sum(series.map(report => report.unverified))
  const candles = sum(series.map(report => report.candles))
  const time = (value: number, open: string) => (Number.isFinite(value) ? exactTime(value) : open)
  const lines = [`Mirror: ${mirror}`]
  if (from !== undefined || to !== undefined)
    lines.unshift(`Range: ${time(range.fromTime, 'the beginning')} to ${time(range.toTime, 'now')} (UTC)`)
  if (unverified > 0) {
    const isOffGrid = series.some(report => report.counts.old_off_grid > 0)
    const reason = isOffGrid ? 'off the grid or without finer candles' : 'because no finer candles are cached'
    lines.unshift(`Not compared, ${reason}: ${formatCount(unverified)} of ${plural(candles, 'candle')}`)
  }
  if (verdict === 'ok' || verdict === 'short') return lines
  lines.unshift(...repairLines(result, location))
  const isRepairable = failing.some(({ missingWindows, corrupt }) => missingWindows.length + corrupt.length > 0)
  const differs = failing.some(({ differing, invalid }) => differing + invalid > 0)
  if (differs) lines.unshift('klines download --refresh downloads every window of a series again.')
  if (isRepairable) lines.unshift('klines download downloads missing and corrupt windows.')
  return lines
}

/** `verify --json`. All counts are exact; the lists of a series have the first 10,000 candles, and the first 1,000 runs without trades. */
function verifyObject(result: VerificationReport): Report<VerifyObject>['json'] {
  const { mirror, verdict, range, series, pairs, differences } = result
  return {
    mirror,
    verdict,
    range: rangeObject(range),
    totals: {
      series: series.length,
      candles: sum(series.map(({ candles }) => candles)),
      windows: sum(series.map(({ windows }) => windows)),
      missingWindows: sum(series.map(({ missingWindows }) => missingWindows.length)),
      corruptWindows: sum(series.map(({ corrupt }) => corrupt.length)),
      differentCandles: sum(series.map(({ differing }) => differing)),
      invalidCandles: sum(series.map(({ invalid }) => invalid)),
      gaps: sum(series.map(({ gaps }) => gaps.length)),
      missingCandles: sum(series.map(countMissing)),
      notes: sum(series.map(({ notes }) => notes)),
    },
    series: series.map(seriesObject),
    comparisons: sum(pairs.map(pair => pair.comparisons)),
    pairs,
    differences,
  }
}

function seriesObject(report: VerifiedSeries): Unchanged<VerifyObject['series'][number]> {
  const { symbol, interval, candles, firstOpenTime = null, lastOpenTime = null } = report
  const { windows, missingWindows, corrupt, gaps, unverified, invalid } = report
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
    coverage: coverageObject(report.coverage),
  }
}

/** Candles missing in all gaps. */
function countMissing({ gaps }: VerifiedSeries): number {
  return sum(gaps.map(gap => gap.missing))
}

/** The open times of the candles that are listed with an anomaly. */
function openTimes({ anomalies }: VerifiedSeries, kind: AnomalyKind): number[] {
  return anomalies.filter(anomaly => anomaly.kind === kind).map(({ openTime }) => openTime)
}
