import type { DownloadReport } from '../../download/tally.js'
import type { DryRunReport } from '../../export/dry-run.js'
import type { WrittenFile } from '../../export/write.js'
import { SAMPLE } from '../../http/base-url.js'
import type { TimeRange } from '../../klines/time-range.js'
import { formatBytes, formatCount, formatTime, plural, textTable } from '../terminal/text.js'
import type { DryRunObject, RunObject } from './schema.js'

/** Files that are listed one by one. */
const LISTED_FILES = 4

/** What a run did; `files` is empty when nothing was exported. */
export type RunReport = DownloadReport & { readonly files?: readonly WrittenFile[] }

/** The object for `--json`, but for the warnings. */
export function runObject({ series, files = [], requests, bytes, ...report }: RunReport): Omit<RunObject, 'warnings'> {
  return {
    ...place(report),
    series: series.map(one => ({
      symbol: one.symbol,
      interval: one.interval,
      candles: one.rows,
      firstOpenTime: one.firstOpenTime ?? null,
      lastOpenTime: one.lastOpenTime ?? null,
      gaps: one.gaps,
      missing: one.missing,
      restated: one.restated,
      changes: [...one.changes],
      windows: {
        total: one.windows.total,
        cached: one.windows.cached,
        fetched: one.windows.fetched,
        revalidated: one.windows.revalidated,
        retained: one.windows.retained,
      },
    })),
    candles: total(series.map(({ rows }) => rows)),
    requests,
    bytes,
    files: files.map(({ rows, series: of, ...file }) => ({ ...file, series: [...of], candles: rows })),
  }
}

/** The object for `--dry-run --json`, but for the warnings. */
export function dryRunObject(report: DryRunReport): Omit<DryRunObject, 'warnings'> {
  return { ...place(report), dryRun: true, series: report.series, files: report.files }
}

/** The summary for people. */
export function runSummary({ series, files = [], requests, bytes, mirror, baseUrl }: RunReport): string {
  const head = ['symbol', 'interval', 'candles', 'first (UTC)', 'last (UTC)', 'missing', 'windows', 'held', 'asked']
  const rows = series.map(one => [
    one.symbol,
    one.interval,
    formatCount(one.rows),
    formatTime(one.firstOpenTime),
    formatTime(one.lastOpenTime),
    one.missing === 0 ? '-' : `${formatCount(one.missing)} in ${plural(one.gaps, 'gap')}`,
    one.windows.total,
    one.windows.cached,
    one.windows.total - one.windows.cached,
  ])
  const held = total(series.map(one => one.windows.cached))
  const lines = [
    textTable(head, rows, ['candles', 'windows', 'held', 'asked']),
    '',
    `${plural(total(series.map(({ rows }) => rows)), 'candle')} in the range; ${plural(requests, 'request')}, ${formatBytes(bytes)} received; ${held === 0 ? 'no window' : plural(held, 'window')} ${held > 1 ? 'were' : 'was'} there already.`,
  ]
  const restated = total(series.map(one => one.restated))
  if (restated > 0)
    lines.push(`${plural(restated, 'candle')} held before came with other values; -v and --json show them.`)
  lines.push(...fileLines(files))
  lines.push(`Mirror: ${mirror}`)
  if (baseUrl === SAMPLE) lines.push('These are MADE candles of the sample, not of any exchange.')
  return lines.join('\n')
}

/** A line a file; for many one line in all. */
function fileLines(files: readonly WrittenFile[]): string[] {
  const line = (name: string, of: readonly WrittenFile[]) =>
    `${name}: ${plural(total(of.map(({ rows }) => rows)), 'candle')}, ${formatBytes(total(of.map(({ bytes }) => bytes)))}`
  if (files.length <= LISTED_FILES) return files.map(file => line(file.path, [file]))
  return [line(`${files.length} files, ${files[0].path} to ${files[files.length - 1].path}`, files)]
}

/** The summary of a dry run for people. */
export function dryRunSummary({ series, files, mirror, offline }: DryRunReport): string {
  const rows = series.map(({ symbol, interval, windows }) => [
    symbol,
    interval,
    windows.total,
    windows.cached,
    windows.stale,
    windows.missing,
  ])
  const asked = total(series.map(({ windows }) => windows.stale + windows.missing))
  const outcome = offline
    ? `${plural(asked, 'window')} of the range not in the mirror${asked > 0 ? ', so the export would fail' : ''}`
    : `${plural(asked, 'window')} would be asked for`
  return [
    textTable(['symbol', 'interval', 'windows', 'held', 'to check', 'to fetch'], rows, [
      'windows',
      'held',
      'to check',
      'to fetch',
    ]),
    '',
    `Dry run: ${outcome}; nothing was fetched or written.`,
    ...(files.length > 0
      ? [`Files that would be written: ${files.map(path => (path === '-' ? 'stdout' : path)).join(', ')}`]
      : []),
    `Mirror: ${mirror}`,
  ].join('\n')
}

function place({ baseUrl, mirror, range }: { baseUrl: string | undefined; mirror: string; range: TimeRange }) {
  const [from, to] = [range.fromTime, range.toTime].map(time => (Number.isFinite(time) ? time : null))
  return { baseUrl: baseUrl ?? null, sample: baseUrl === SAMPLE, mirror, range: { from, to } }
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}
