import { seriesName } from '../../candles/series.js'
import { formatBytes, formatCount, formatTime, plural } from '../../candles/text.js'
import { coverageText, restatedLines, SYNTHETIC, sumOf } from '../../cli/fields.js'
import type { TextFlags } from '../../cli/report.js'
import { textTable } from '../../cli/terminal/table.js'
import { formatDuration } from '../../cli/terminal/text.js'
import type { WrittenFile } from '../../engine/encode.js'
import type { DownloadReport, SeriesReport } from '../../engine/report.js'
import type { LakeChanges } from '../../lake/update.js'
import { joinNames } from '../../mirror/errors.js'
import { SAMPLE } from '../../sources/base-url.js'
import { fingerprintLines } from './lock.js'

/** More series than this are shown as one row a symbol or an interval. */
const MAX_SERIES = 12
/** Files that are listed one by one. */
const MAX_LISTED = 4

/** What a run did. */
export interface RunResult extends DownloadReport {
  readonly elapsedMs: number
  /** Whether the candles came from the mirror alone. */
  readonly offline?: boolean
  /** Missing when nothing was exported. */
  readonly files?: readonly WrittenFile[]
  readonly lake?: LakeChanges
  /** The lock that the candles are exactly those of, and what the check says. */
  readonly lock?: { readonly path: string; readonly series: number; readonly lines: readonly string[] }
}

/** The summary of a run. */
export function describeRun(result: RunResult, flags: TextFlags & { readonly 'per-series'?: boolean }): string {
  const { series, files = [], mirror, baseUrl, range, lock } = result
  const { 'per-series': verbose = false } = flags
  const isLong = series.length > MAX_SERIES && !verbose
  const coverage = coverageText(series, { range, baseUrl, verbose })
  const lines = lock ? [...lock.lines, `Source: ${baseUrl}`, ''] : []
  lines.push(isLong ? groupTable(series) : seriesTable(series), '')
  if (coverage !== undefined) lines.push(coverage, '')
  lines.push(describeWindows(result), ...restatedLines(series), describeLatest(result), describeTraffic(result))
  lines.push(...describeFiles(files))
  if (result.lake) lines.push(...describeLake(result.lake))
  lines.push(`Mirror: ${mirror}; these series take ${formatBytes(sumOf(series, 'cachedBytes'))}.`)
  if (baseUrl === SAMPLE) lines.push(SYNTHETIC)
  if (result.fingerprints) lines.push('', ...fingerprintLines(result.fingerprints))
  if (isLong) lines.push('--per-series shows a row for each series.')
  return lines.join('\n')
}

/** What stderr says about candles that went to stdout, where no summary says it. `omitted`: what a table of them leaves out. */
export function streamNotes({ series, range, baseUrl, fingerprints }: DownloadReport, omitted?: string): string[] {
  const missing = omitted === undefined ? 0 : sumOf(series, 'missing')
  const gaps = plural(sumOf(series, 'gaps'), 'gap')
  const notes = [
    omitted,
    missing > 0 && `${plural(missing, 'candle')} missing in ${gaps} of the range.`,
    coverageText(series, { range, baseUrl, verbose: false }),
    ...restatedLines(series),
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
  const count = (key: 'symbol' | 'interval') => new Set(series.map(one => one[key])).size
  const [name, others] =
    count('symbol') <= count('interval') ? (['symbol', 'intervals'] as const) : (['interval', 'symbols'] as const)
  const rows = [...new Set(series.map(one => one[name]))].map(key => {
    const reports = series.filter(one => one[name] === key)
    return [key, ...toCells(formatCount(reports.length), reports)]
  })
  const total = ['total', ...toCells(plural(series.length, 'series'), series)]
  return textTable({ head: [name, others, ...COLUMNS], rows: [...rows, total], right: ['candles'] })
}

/** The cells behind the name of one or more series. */
function toCells(second: string, series: readonly SeriesReport[]): string[] {
  const [gaps, missing] = [sumOf(series, 'gaps'), sumOf(series, 'missing')]
  return [
    second,
    formatCount(sumOf(series, 'candles')),
    formatTime(minTime(series)).slice(0, 10),
    formatTime(maxTime(series)),
    missing === 0 ? '-' : `${formatCount(missing)} in ${plural(gaps, 'gap')}`,
  ]
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

/** The candle that opened last; its age if the range reaches the present. */
function describeLatest({ series, range }: RunResult): string {
  const time = maxTime(series)
  const latest = series.find(({ lastOpenTime }) => lastOpenTime === time)
  if (time === undefined || latest === undefined) return 'No candle opens in the range.'
  const age = range.toTime === Number.POSITIVE_INFINITY ? Date.now() - time : 0
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
  const line = (name: string, named: readonly WrittenFile[]) =>
    `${name}: ${plural(sumOf(named, 'candles'), 'candle')}, ${formatBytes(sumOf(named, 'bytes'))}`
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

/** The first and the last open time of series; undefined without a candle. */
function minTime(series: readonly SeriesReport[]): number | undefined {
  return series.flatMap(({ firstOpenTime }) => firstOpenTime ?? []).sort((a, b) => a - b)[0]
}
function maxTime(series: readonly SeriesReport[]): number | undefined {
  return series.flatMap(({ lastOpenTime }) => lastOpenTime ?? []).sort((a, b) => b - a)[0]
}
