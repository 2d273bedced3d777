import type { DownloadReport, SeriesReport } from '../../download/tally.js'
import type { DryRunReport } from '../../export/dry-run.js'
import type { WrittenFile } from '../../export/target-writer.js'
import { SAMPLE } from '../../http/base-url.js'
import type { TimeRange } from '../../klines/time-range.js'
import { textTable } from '../terminal/table.js'
import { formatBytes, formatCount, formatTime, plural } from '../terminal/text.js'
import type { Report } from './report.js'
import type { DryRunObject, RunObject } from './schema.js'

/** Files that are listed one by one. */
const MAX_LISTED = 4

/** What a run did; without `files` when nothing was exported. */
type RunResult = DownloadReport & { readonly files?: readonly WrittenFile[] }

/** `download` and `export`. */
export function runReport(result: RunResult): Report<RunObject> {
  const { series, files = [], requests, bytes } = result
  const json = {
    ...toLocation(result),
    series: series.map(toSeriesObject),
    candles: total(series.map(({ rows }) => rows)),
    requests,
    bytes,
    files: files.map(({ rows, series, ...file }) => ({ ...file, series: [...series], candles: rows })),
  }
  return { json, text: () => describeRun(result) }
}

function toSeriesObject(report: SeriesReport): RunObject['series'][number] {
  const { symbol, interval, rows, firstOpenTime = null, lastOpenTime = null, gaps, missing, restated, changes } = report
  const { total, cached, fetched, revalidated, retained } = report.windows
  const times = { firstOpenTime, lastOpenTime }
  const windows = { total, cached, fetched, revalidated, retained }
  return { symbol, interval, candles: rows, ...times, gaps, missing, restated, changes: [...changes], windows }
}

function describeRun({ series, files = [], requests, bytes, mirror, baseUrl }: RunResult): string {
  const head = ['symbol', 'interval', 'candles', 'first (UTC)', 'last (UTC)', 'missing', 'windows', 'held', 'asked']
  const rows = series.map(report => [
    report.symbol,
    report.interval,
    formatCount(report.rows),
    formatTime(report.firstOpenTime),
    formatTime(report.lastOpenTime),
    report.missing === 0 ? '-' : `${formatCount(report.missing)} in ${plural(report.gaps, 'gap')}`,
    report.windows.total,
    report.windows.cached,
    report.windows.total - report.windows.cached,
  ])
  const cached = total(series.map(({ windows }) => windows.cached))
  const lines = [
    textTable({ head, rows, right: ['candles', 'windows', 'held', 'asked'] }),
    '',
    `${plural(total(series.map(({ rows }) => rows)), 'candle')} in the range; ${plural(requests, 'request')}, ${formatBytes(bytes)} received; ${cached === 0 ? 'no window' : plural(cached, 'window')} ${cached > 1 ? 'were' : 'was'} there already.`,
  ]
  const restated = total(series.map(report => report.restated))
  if (restated > 0)
    lines.push(`${plural(restated, 'candle')} held before came with other values; -v and --json show them.`)
  lines.push(...describeFiles(files), `Mirror: ${mirror}`)
  if (baseUrl === SAMPLE) lines.push('These are MADE candles of the sample, not of any exchange.')
  return lines.join('\n')
}

/** A line for each file; one line in all for many. */
function describeFiles(files: readonly WrittenFile[]): string[] {
  const line = (name: string, named: readonly WrittenFile[]) =>
    `${name}: ${plural(total(named.map(({ rows }) => rows)), 'candle')}, ${formatBytes(total(named.map(({ bytes }) => bytes)))}`
  if (files.length <= MAX_LISTED) return files.map(file => line(file.path, [file]))
  return [line(`${files.length} files, ${files[0].path} to ${files[files.length - 1].path}`, files)]
}

/** `--dry-run`. */
export function dryRunReport(result: DryRunReport): Report<DryRunObject> {
  const { series, files } = result
  return { json: { ...toLocation(result), dryRun: true, series, files }, text: () => describeDryRun(result) }
}

function describeDryRun({ series, files, mirror, offline }: DryRunReport): string {
  const right = ['windows', 'held', 'to check', 'to fetch']
  const rows = series.map(({ symbol, interval, windows }) => {
    const { total, cached, stale, missing } = windows
    return [symbol, interval, total, cached, stale, missing]
  })
  const count = total(series.map(({ windows }) => windows.stale + windows.missing))
  const outcome = offline
    ? `${plural(count, 'window')} of the range not in the mirror${count > 0 ? ', so the export would fail' : ''}`
    : `${plural(count, 'window')} would be asked for`
  const lines = [
    textTable({ head: ['symbol', 'interval', ...right], rows, right }),
    '',
    `Dry run: ${outcome}; nothing was fetched or written.`,
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
