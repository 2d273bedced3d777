import { seriesName } from '../../candles/series.js'
import { formatBytes, formatCount, formatDuration, formatTime, plural } from '../../candles/text.js'
import * as f from '../../cli/fields.js'
import { coverageText, sumOf } from '../../cli/fields.js'
import type { Field, Fields, TextFlags } from '../../cli/report.js'
import * as s from '../../cli/report.js'
import { describeCost } from '../../cli/terminal/progress-text.js'
import { textTable } from '../../cli/terminal/table.js'
import type { WrittenFile } from '../../engine/encode.js'
import type { DryRunReport } from '../../engine/klines.js'
import type { DownloadReport, SeriesReport } from '../../engine/report.js'
import type { LakeChanges } from '../../lake/update.js'
import { joinNames } from '../../mirror/errors.js'
import { shortSentences } from '../../rows/coverage.js'
import { fingerprintLines } from './lock.js'

export interface RunResult extends DownloadReport {
  readonly elapsedMs: number
  /** Whether the candles came from the mirror alone. */
  readonly offline?: boolean
  readonly files: readonly WrittenFile[]
  readonly lake?: LakeChanges
  /** The lock that the candles are exactly those of, and what the check says. */
  readonly lock?: { readonly path: string; readonly series: number; readonly lines: readonly string[] }
}

/** More series than this are shown as one row a symbol or an interval. */
const MAX_SERIES = 12
const MAX_LISTED = 4

function total(key: 'candles' | 'newCandles'): Field<number> {
  return s.derived(s.count(), ({ series }: RunResult) => sumOf(series, key))
}

const series = s.object({
  ...f.seriesName,
  candles: s.count(),
  newCandles: s.count('candles that were not cached before'),
  firstOpenTime: s.time(),
  lastOpenTime: s.time(),
  noTradeSince: f.noTradeSince,
  gaps: s.count(),
  missing: s.count('candles missing in the gaps'),
  restated: s.count('cached candles whose values the service changed'),
  changes: s.list(f.changedCell, 'values of restated candles before and after, the first 1,000'),
  windows: s.object({
    total: s.count(),
    cached: s.count(),
    fetched: s.count(),
    revalidated: s.count(),
    retained: s.count(),
  }),
  cachedBytes: s.count('size of the files of these windows'),
  coverage: f.coverage,
})

const file = s.object({
  path: s.text(),
  format: s.text(),
  series: s.list(s.object(f.seriesName)),
  candles: s.count(),
  bytes: s.count(),
  compression: s.text('of the pages of a Parquet file, or gzip for a name that ends in .gz'),
  inexactDoubles: s.count(),
  unchanged: s.optional(s.flag('whether a file had these bytes already, and was left as it is')),
})

const lake = s.object({
  folder: s.text(),
  written: s.count('parts that were written'),
  unchanged: s.count('parts of the requested series that stay'),
  removed: s.list(s.text(), 'parts that were removed, relative to the folder'),
  notRequested: s.list(s.text(), 'series of the lake that were not requested, such as BTCUSDT 1h'),
})

const lock = s.object({ path: s.text(), series: s.count('locked series, whose candles are exactly those of the lock') })

const archive = s.object({
  windows: s.count('windows that came from the archive of the exchange, checked'),
  refused: s.list(
    s.object({ ...f.seriesName, startDate: s.text(), reason: s.text() }),
    'windows of its months that the API of the exchange gave instead, and why',
  ),
})

export const Run = s.report(
  'klines-run',
  {
    ...f.location,
    series: s.list(series),
    candles: total('candles'),
    newCandles: total('newCandles'),
    requests: s.count(),
    bytes: s.count('bytes of bodies as they were received'),
    elapsedMs: { ...s.count(), json: Math.round },
    archive: s.optional(archive),
    lock: s.optional(lock),
    files: s.list(file, 'files that were written; of a lake its new and replaced parts'),
    fingerprints: s.optional(
      s.object({ series: s.list(s.object(f.fingerprint)), set: f.set }, 'with --fingerprint, of series with candles'),
    ),
    lake: s.optional(lake),
  },
  (result: RunResult, flags: TextFlags & { readonly 'per-series'?: boolean }) => {
    const { series, files, mirror, baseUrl, range, lock } = result
    const { 'per-series': verbose = false } = flags
    const isLong = series.length > MAX_SERIES && !verbose
    const coverage = coverageText(series, { range, baseUrl, verbose })
    const lines = lock ? [...lock.lines, `Source: ${baseUrl}`, ''] : []
    lines.push(isLong ? groupTable(series) : seriesTable(series), '')
    if (coverage !== undefined) lines.push(coverage, '')
    lines.push(describeWindows(result), ...describeArchive(result, flags), ...f.restatedLines(series))
    lines.push(describeLatest(result), describeTraffic(result))
    lines.push(...describeFiles(files))
    if (result.lake) lines.push(...describeLake(result.lake))
    lines.push(`Mirror: ${mirror}; these series take ${formatBytes(sumOf(series, 'cachedBytes'))}.`)
    lines.push(...f.sourceNote(baseUrl))
    if (result.fingerprints) lines.push('', ...fingerprintLines(result.fingerprints))
    if (isLong) lines.push('--per-series shows a row for each series.')
    return lines.join('\n')
  },
  {
    // Beside candles on stdout, they would be taken for some.
    asked: ({ fingerprints, files }) => (fingerprints && files[0]?.path !== '-' ? fingerprintLines(fingerprints) : []),
    urgent: ({ series }) => f.restatedLines(series),
    lacks: ({ series, range }) => shortSentences(series, range),
  },
)

/** What stderr says about candles that went to stdout, where no summary says it. `omitted`: what a table of them leaves out. */
export function streamNotes(report: DownloadReport, flags: TextFlags, omitted?: string): string[] {
  const { series, range, baseUrl, fingerprints } = report
  const missing = omitted === undefined ? 0 : sumOf(series, 'missing')
  const notes = [
    omitted,
    missing > 0 && `${plural(missing, 'candle')} missing in ${plural(sumOf(series, 'gaps'), 'gap')} of the range.`,
    coverageText(series, { range, baseUrl, verbose: false }),
    ...describeArchive(report, flags),
    ...f.restatedLines(series),
    ...(fingerprints ? fingerprintLines(fingerprints) : []),
  ]
  return notes.flatMap(note => note || [])
}

const COLUMNS = ['candles', 'first (UTC)', 'latest (UTC)', 'missing candles']

function seriesTable(series: readonly SeriesReport[]): string {
  const rows = series.map(report => [report.symbol, ...toCells(report.interval, [report])])
  return textTable({ head: ['symbol', 'interval', ...COLUMNS], rows, right: ['candles'] })
}

/** One row a symbol or an interval, whichever are fewer. */
function groupTable(series: readonly SeriesReport[]): string {
  const keysOf = (name: 'symbol' | 'interval') => [...new Set<string>(series.map(one => one[name]))]
  const isShort = keysOf('symbol').length <= keysOf('interval').length
  const [name, others] = isShort ? (['symbol', 'intervals'] as const) : (['interval', 'symbols'] as const)
  const rows = keysOf(name).map(key => {
    const reports = series.filter(one => one[name] === key)
    return [key, ...toCells(formatCount(reports.length), reports)]
  })
  const total = ['total', ...toCells(plural(series.length, 'series'), series)]
  return textTable({ head: [name, others, ...COLUMNS], rows: [...rows, total], right: ['candles'] })
}

function toCells(second: string, series: readonly SeriesReport[]): string[] {
  const missing = sumOf(series, 'missing')
  const first = series.flatMap(({ firstOpenTime }) => firstOpenTime ?? []).sort((a, b) => a - b)[0]
  return [
    second,
    formatCount(sumOf(series, 'candles')),
    formatTime(first).slice(0, 10),
    formatTime(latestOf(series)?.lastOpenTime),
    missing === 0 ? '-' : `${formatCount(missing)} in ${plural(sumOf(series, 'gaps'), 'gap')}`,
  ]
}

function latestOf(series: readonly SeriesReport[]): SeriesReport | undefined {
  const openTime = ({ lastOpenTime = -Infinity }: SeriesReport) => lastOpenTime
  return series.toSorted((a, b) => openTime(b) - openTime(a)).find(one => one.lastOpenTime !== undefined)
}

function describeWindows({ series, offline }: RunResult): string {
  const windows = series.map(({ windows }) => windows)
  const [cached, fetched] = [sumOf(windows, 'cached'), sumOf(windows, 'fetched')]
  const [revalidated, retained] = [sumOf(windows, 'revalidated'), sumOf(windows, 'retained')]
  if (offline) return `Read ${plural(cached, 'window')} from the mirror.`
  const parts = [
    `${formatCount(fetched)} downloaded`,
    `${formatCount(revalidated)} revalidated`,
    `${formatCount(cached)} cached`,
    ...(retained > 0 ? [`${formatCount(retained)} kept as cached`] : []),
  ]
  const added = sumOf(series, 'newCandles')
  // A window that is kept may lack candles that the service has.
  const isCurrent = fetched + retained === 0
  const outcome = isCurrent ? 'Everything is up to date' : added === 0 ? 'No new candles' : plural(added, 'new candle')
  return `${outcome}. Windows: ${parts.join(', ')}.`
}

/** What the archive of the exchange gave, and what it did not: a line a kind of reason, or with `verbose` a line a window. */
function describeArchive({ archive }: DownloadReport, { verbose = false }: TextFlags): string[] {
  if (archive === undefined) return []
  const kinds = new Map<string, string[]>()
  for (const { startDate, reason, ...series } of archive.refused) {
    const line = `${seriesName(series)} ${startDate}: ${reason}.`
    // Reasons of one kind differ in their rows, times and values.
    const kind = verbose ? line : reason.replaceAll(/\d+/g, '0')
    const lines = kinds.get(kind)
    if (lines) lines.push(line)
    else kinds.set(kind, [line])
  }
  const lines = [...kinds.values()].map(({ length, 0: first }) => {
    return `Not from the archive: ${length === 1 ? '' : `${plural(length, 'window')} (-v lists them), first `}${first}`
  })
  const windows = plural(archive.windows, 'window')
  return [`${windows} came from the archive of the exchange, checked by its 1h candles.`, ...lines]
}

/** The candle that opened last; its age if the range reaches the present, which offline a note says. */
function describeLatest({ series, range, offline }: RunResult): string {
  const latest = latestOf(series)
  if (latest?.lastOpenTime === undefined) return 'No candle opens in the range.'
  const time = latest.lastOpenTime
  const age = !offline && range.toTime === Infinity ? Date.now() - time : 0
  return `Latest candle: ${seriesName(latest)} of ${formatTime(time)} UTC${age > 0 ? `, ${formatDuration(age)} ago` : ''}.`
}

function describeTraffic({ requests, bytes, elapsedMs, offline }: RunResult): string {
  const elapsed = formatDuration(elapsedMs)
  if (offline || requests === 0) return `Took ${elapsed}.`
  const rate = `${formatBytes(Math.round(bytes / Math.max(elapsedMs / 1000, 0.001)))}/s`
  return `${plural(requests, 'request')}, ${formatBytes(bytes)} received in ${elapsed} (${rate}).`
}

/** A line for each file; one line in all for many. */
function describeFiles(files: readonly WrittenFile[]): string[] {
  const stateOf = (named: readonly WrittenFile[]) => (named.every(one => one.unchanged) ? ', up to date' : '')
  const line = (name: string, named: readonly WrittenFile[]) =>
    `${name}: ${plural(sumOf(named, 'candles'), 'candle')}, ${formatBytes(sumOf(named, 'bytes'))}${stateOf(named)}`
  if (files.length <= MAX_LISTED) return files.map(file => line(file.path, [file]))
  return [line(`${formatCount(files.length)} files, ${files[0].path} to ${files[files.length - 1].path}`, files)]
}

/** What became of a lake, and what it has beside the requested series. */
function describeLake({ folder, written, unchanged, removed, notRequested }: LakeChanges): string[] {
  const gone = removed.length === 0 ? '' : `, ${formatCount(removed.length)} removed`
  const parts = `${plural(written, 'part')} written, ${formatCount(unchanged)} unchanged${gone}`
  const lines = [`Lake ${folder}: ${written + removed.length === 0 ? 'up to date, ' : ''}${parts}.`]
  if (notRequested.length === 0) return lines
  return [...lines, `Also in the lake, and not requested: ${joinNames(notRequested)}; --prune removes them.`]
}

type SeriesDryRun = DryRunReport['series'][number]

function windowsOf(head: string, key: keyof SeriesDryRun['windows']) {
  return s.column(head, s.count(), ({ windows }: SeriesDryRun) => windows[key])
}

export const DryRun = s.report(
  'klines-dry-run',
  {
    ...f.location,
    dryRun: s.derived(s.flag(), () => true),
    requests: s.count('requests that these windows would take'),
    limitMs: s.count('time of these requests by the limits of the service, ms; 0 without limits'),
    files: s.list(s.text(), 'paths that would be written, - for stdout'),
    removed: s.list(s.text(), 'paths that --prune would remove'),
    series: s.list(
      s.object({
        ...f.seriesName,
        windows: s.object({
          total: s.count(),
          cached: s.count(),
          stale: s.derived(s.count('cached, and would be revalidated'), ({ open }: SeriesDryRun['windows']) => open),
          missing: s.count(),
        }),
      }),
    ),
  },
  (result: DryRunReport) => {
    const { series, files, removed, mirror, offline } = result
    const columns: Fields = {
      ...f.seriesName,
      windows: windowsOf('windows', 'total'),
      cached: windowsOf('cached', 'cached'),
      ...(!offline && { open: windowsOf('to revalidate', 'open') }),
      missing: windowsOf(offline ? 'missing' : 'to download', 'missing'),
    }
    const left = f.sum(series.map(({ windows }) => windows.total - windows.cached))
    const outcome = offline
      ? `${plural(left, 'window')} missing${left > 0 ? ', so the export would fail' : ''}; nothing was written`
      : `${plural(left, 'window')} would be requested; nothing was downloaded or written`
    const lines = [s.textOf(columns, series), '', `Dry run: ${outcome}.`]
    if (result.limitMs > 0) lines.push(`The run takes ${describeCost(result)}.`)
    const outputs = files.map(path => (path === '-' ? 'stdout' : path))
    if (outputs.length > 0) lines.push(`Files that would be written: ${outputs.join(', ')}`)
    if (removed.length > 0) lines.push(`Parts that would be removed: ${removed.join(', ')}`)
    return [...lines, `Mirror: ${mirror}`].join('\n')
  },
)
