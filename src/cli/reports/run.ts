import type { DryRunReport } from '../../engine/dry-run.js'
import type { CoveredReport } from '../../engine/report.js'
import { plural } from '../../klines/text.js'
import { describeCost } from '../terminal/progress-text.js'
import { textTable } from '../terminal/table.js'
import { coverageObject } from './coverage.js'
import { toFingerprintsObject } from './fingerprint.js'
import { locationObject, type Report, sum, type Unchanged } from './report.js'
import { describeRun, type RunDetails, type RunResult } from './run-text.js'
import type { DryRunObject, RunObject } from './schema.js'

/** `download` and `export`. */
export function runReport(result: RunResult, details: RunDetails): Report<RunObject> {
  const { series, files = [], lake, fingerprints, requests, bytes } = result
  const json = {
    ...locationObject(result),
    series: series.map(toSeriesObject),
    candles: sum(series.map(({ candles }) => candles)),
    newCandles: sum(series.map(({ newCandles }) => newCandles)),
    requests,
    bytes,
    elapsedMs: Math.round(details.elapsedMs),
    files,
    ...(fingerprints && { fingerprints: toFingerprintsObject(fingerprints) }),
    ...(lake && { lake }),
  }
  return { json, text: () => describeRun(result, details) }
}

function toSeriesObject(report: CoveredReport): Unchanged<RunObject['series'][number]> {
  const { symbol, interval, candles, firstOpenTime = null, lastOpenTime = null, gaps, missing } = report
  const { newCandles, cachedBytes, restated, changes } = report
  const { failed: _, absent: __, ...windows } = report.windows
  return {
    symbol,
    interval,
    candles,
    newCandles,
    firstOpenTime,
    lastOpenTime,
    gaps,
    missing,
    restated,
    changes,
    windows,
    cachedBytes,
    coverage: coverageObject(report.coverage),
  }
}

/** `--dry-run`. */
export function dryRunReport(result: DryRunReport): Report<DryRunObject> {
  const { requests, limitMs, files, removed } = result
  const series = result.series.map(({ windows: { total, cached, open, missing }, ...one }) => {
    return { ...one, windows: { total, cached, stale: open, missing } }
  })
  const json = { ...locationObject(result), dryRun: true, series, requests, limitMs, files, removed } as const
  return { json, text: () => describeDryRun(result) }
}

function describeDryRun(report: DryRunReport): string {
  const { series, files, removed, mirror, offline } = report
  const right = ['windows', 'cached', ...(offline ? ['missing'] : ['to revalidate', 'to download'])]
  const rows = series.map(({ symbol, interval, windows: { total, cached, open, missing } }) => {
    return [symbol, interval, total, cached, ...(offline ? [missing] : [open, missing])]
  })
  const count = sum(series.map(({ windows }) => windows.total - windows.cached))
  const outcome = offline
    ? `${plural(count, 'window')} missing${count > 0 ? ', so the export would fail' : ''}; nothing was written`
    : `${plural(count, 'window')} would be requested; nothing was downloaded or written`
  const table = textTable({ head: ['symbol', 'interval', ...right], rows, right })
  const lines = [table, '', `Dry run: ${outcome}.`]
  if (report.limitMs > 0) lines.push(`The run takes ${describeCost(report)}.`)
  const names = files.map(path => (path === '-' ? 'stdout' : path))
  if (names.length > 0) lines.push(`Files that would be written: ${names.join(', ')}`)
  if (removed.length > 0) lines.push(`Parts that would be removed: ${removed.join(', ')}`)
  return [...lines, `Mirror: ${mirror}`].join('\n')
}
