import { join } from 'node:path'
import type { MirrorStatus } from '../../engine/mirror-status.js'
import type { PublishReport } from '../../engine/publish.js'
import { seriesPath } from '../../klines/paths.js'
import { formatBytes, formatCount, formatTime, plural } from '../../klines/text.js'
import { indexPath } from '../../mirror/series-index.js'
import type { SeriesStatus } from '../../mirror/status.js'
import type { MirrorFigures, UserMirror } from '../../mirror/user-mirrors.js'
import { fittingText, textTable } from '../terminal/table.js'
import type { Report } from './report.js'
import type { MirrorObject, MirrorPublishObject } from './schema.js'

/** Another mirror of the user, and what it has. */
export type OtherMirror = UserMirror & MirrorFigures

/** `mirror`: what is cached of each series, and a line for each other mirror. */
export function mirrorReport(status: MirrorStatus, others: readonly OtherMirror[]): Report<MirrorObject> {
  const { baseUrl = null, ...rest } = status
  const objects = others.map(({ baseUrl = null, newest = null, ...other }) => ({ baseUrl, ...other, newest }))
  const text = () => [...statusLines(status), ...(others.length === 0 ? [] : ['', otherTable(others)])].join('\n')
  return { json: { baseUrl, ...rest, others: objects }, text }
}

function statusLines({ mirror, baseUrl, windows, cachedBytes, series }: MirrorStatus): string[] {
  const head = ['symbol', 'interval', 'windows', 'empty', 'first candle', 'last (UTC)', 'size']
  const toRow = (status: SeriesStatus) => [
    status.symbol,
    status.interval,
    formatCount(status.windows),
    formatCount(status.empty),
    formatTime(status.firstOpenTime).slice(0, 10),
    formatTime(status.lastOpenTime),
    formatBytes(status.cachedBytes),
  ]
  const folders = series
    .slice(0, 1)
    .map(one => [seriesPath(one), indexPath(one)].map(path => join(mirror, path)).join(' and '))
    .map(paths => `To remove a series, remove its folder and its index: ${paths}`)
  return [
    fittingText({ head, rows: series.map(toRow), right: ['windows', 'empty', 'size'] }, 2),
    '',
    `${plural(windows, 'window')} of ${series.length} series, ${formatBytes(cachedBytes)}, from ${baseUrl ?? 'an unknown address'}`,
    `Mirror: ${mirror}`,
    ...folders,
  ]
}

function otherTable(others: readonly OtherMirror[]): string {
  const head = ['other mirrors', 'symbols', 'size', 'newest candle (UTC)', 'folder']
  const rows = others.map(({ baseUrl, symbols, cachedBytes, newest, root }) => {
    return [baseUrl ?? 'unknown', formatCount(symbols), formatBytes(cachedBytes), formatTime(newest), root]
  })
  return textTable({ head, rows, right: ['symbols', 'size'] })
}

/** `mirror publish`: what the tree has, what was added, and where it is. */
export function mirrorPublishReport(report: PublishReport): Report<MirrorPublishObject> {
  const { symbols, intervals, ...rest } = report
  const tree = join(report.mirror, 'api')
  return { json: { ...rest, tree, symbols, intervals }, text: () => publishText(report, tree) }
}

function publishText({ symbols, intervals, windows, emptyWritten, listsWritten }: PublishReport, tree: string): string {
  const contents = `${plural(symbols.length, 'symbol')}, ${plural(intervals.length, 'interval')}, ${plural(windows, 'window')}`
  const written = `Written: ${plural(emptyWritten, 'empty window')}, ${plural(listsWritten, 'list')}.`
  return [
    `The tree is complete: ${contents}. ${written}`,
    `Any static host can serve it: upload ${tree} as the folder api of its address.`,
  ].join('\n')
}
