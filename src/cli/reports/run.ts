import type { SeriesReport } from '../../download/tally.js'
import type { DryRunReport } from '../../export/dry-run.js'
import { SAMPLE } from '../../http/base-url.js'
import type { TimeRange } from '../../klines/time-range.js'
import { textTable } from '../terminal/table.js'
import { formatCount, plural } from '../terminal/text.js'
import type { Report } from './report.js'
import { describeRun, type RunDetails, type RunResult } from './run-text.js'
import type { DryRunObject, RunObject } from './schema.js'

/** `download` and `export`. */
export function runReport(result: RunResult, details: RunDetails): Report<RunObject> {
  const { series, files = [], requests, bytes } = result
  const json = {
    ...toLocation(result),
    series: series.map(toSeriesObject),
    candles: total(series.map(({ rows }) => rows)),
    newCandles: total(series.map(({ added }) => added)),
    requests,
    bytes,
    elapsedMs: Math.round(details.elapsedMs),
    files: files.map(({ rows, series, ...file }) => ({ ...file, series: [...series], candles: rows })),
  }
  return { json, text: () => describeRun(result, details) }
}

function toSeriesObject(report: SeriesReport): RunObject['series'][number] {
  const { symbol, interval, rows, firstOpenTime = null, lastOpenTime = null, gaps, missing } = report
  const { added, size, restated, changes } = report
  const { total, cached, fetched, revalidated, retained } = report.windows
  const times = { firstOpenTime, lastOpenTime }
  const windows = { total, cached, fetched, revalidated, retained }
  return {
    symbol,
    interval,
    candles: rows,
    newCandles: added,
    ...times,
    gaps,
    missing,
    restated,
    changes: [...changes],
    windows,
    cachedBytes: size,
  }
}

/** `--dry-run`. */
export function dryRunReport(result: DryRunReport): Report<DryRunObject> {
  const { series, files } = result
  return { json: { ...toLocation(result), dryRun: true, series, files }, text: () => describeDryRun(result) }
}

function describeDryRun({ series, files, mirror, offline }: DryRunReport): string {
  const right = ['windows', 'cached', 'to revalidate', 'to download']
  const rows = series.map(({ symbol, interval, windows }) => {
    const { total, cached, stale, missing } = windows
    return [symbol, interval, ...[total, cached, stale, missing].map(formatCount)]
  })
  const count = total(series.map(({ windows }) => windows.stale + windows.missing))
  const outcome = offline
    ? `${plural(count, 'window')} of the range not in the mirror${count > 0 ? ', so the export would fail' : ''}`
    : `${plural(count, 'window')} would be requested`
  const lines = [
    textTable({ head: ['symbol', 'interval', ...right], rows, right }),
    '',
    `Dry run: ${outcome}; nothing was downloaded or written.`,
  ]
  const names = files.map(path => (path === '-' ? 'stdout' : path))
  if (names.length > 0) lines.push(`Files that would be written: ${names.join(', ')}`)
  return [...lines, `Mirror: ${mirror}`].join('\n')
}

function toLocation({ baseUrl, mirror, range }: { baseUrl: string | undefined; mirror: string; range: TimeRange }) {
  const [from, to] = [range.fromTime, range.toTime].map(time => (Number.isFinite(time) ? time : null))
  return { baseUrl: baseUrl ?? null, sample: baseUrl === SAMPLE, mirror, range: { from, to } }
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}
