import { describeCost } from '../../download/request-cost.js'
import type { DownloadedSeries } from '../../download/tally.js'
import type { DryRunReport } from '../../export/dry-run.js'
import { formatCount, plural } from '../../klines/text.js'
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

function toSeriesObject(report: DownloadedSeries): Unchanged<RunObject['series'][number]> {
  const { symbol, interval, candles, firstOpenTime = null, lastOpenTime = null, gaps, missing } = report
  const { newCandles, cachedBytes, restated, changes } = report
  const { failed: _, ...windows } = report.windows
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
  const { series, requests, limitMs, files, removed } = result
  const json = { ...locationObject(result), dryRun: true, series, requests, limitMs, files, removed } as const
  return { json, text: () => describeDryRun(result) }
}

function describeDryRun(report: DryRunReport): string {
  const { series, files, removed, mirror, offline } = report
  const unrecorded = sum(series.map(({ windows }) => windows.unrecorded))
  const toConfirm = unrecorded > 0 ? ['to confirm'] : []
  const right = offline
    ? ['windows', 'cached', 'missing']
    : ['windows', 'cached', ...toConfirm, 'to revalidate', 'to download']
  const rows = series.map(({ symbol, interval, windows: { total, cached, stale, missing, ...windows } }) => {
    const requested = [...(unrecorded > 0 ? [windows.unrecorded] : []), stale, missing]
    return [symbol, interval, total, cached, ...(offline ? [missing] : requested)]
  })
  const count = sum(series.map(({ windows }) => windows.total - windows.cached))
  const outcome = offline
    ? `${plural(count, 'window')} missing${count > 0 ? ', so the export would fail' : ''}; nothing was written`
    : `${plural(count, 'window')} would be requested; nothing was downloaded or written`
  const table = textTable({ head: ['symbol', 'interval', ...right], rows, right })
  const lines = [table, '', `Dry run: ${outcome}.`]
  if (unrecorded > 0) lines.push(describeUnrecorded(unrecorded))
  if (report.limitMs > 0) lines.push(`The run takes ${describeCost(report)}.`)
  const names = files.map(path => (path === '-' ? 'stdout' : path))
  if (names.length > 0) lines.push(`Files that would be written: ${names.join(', ')}`)
  if (removed.length > 0) lines.push(`Parts that would be removed: ${removed.join(', ')}`)
  return [...lines, `Mirror: ${mirror}`].join('\n')
}

/** A mirror of an older version has no record, and a copy may have an older one. */
function describeUnrecorded(windows: number): string {
  const [are, them] = windows === 1 ? ['window is', 'it'] : ['windows are', 'them']
  return `${formatCount(windows)} cached ${are} not in the mirror's record as they are: this download confirms ${them} once.`
}
