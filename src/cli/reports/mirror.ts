import { join } from 'node:path'
import type { PublishReport } from '../../download/publish.js'
import type { Repair } from '../../download/repair.js'
import { formatBytes, formatCount, formatTime, plural } from '../../klines/text.js'
import type { MirrorCheckReport } from '../../mirror/check.js'
import type { Removal } from '../../mirror/prune.js'
import type { CandleStatus } from '../../mirror/status.js'
import type { MirrorFigures, UserMirror } from '../../mirror/user-mirrors.js'
import { fittingText, textTable } from '../terminal/table.js'
import { firstLines, printable } from '../terminal/text.js'
import { type Report, sum } from './report.js'
import type {
  MirrorClearObject,
  MirrorListObject,
  MirrorPublishObject,
  MirrorStatusObject,
  MirrorVerifyObject,
} from './schema.js'

/** `mirror status`: what is cached of each series. */
export function mirrorStatusReport(
  mirror: string,
  baseUrl: string | undefined,
  series: readonly CandleStatus[],
): Report<MirrorStatusObject> {
  const windows = sum(series.map(status => status.windows))
  const cachedBytes = sum(series.map(status => status.cachedBytes))
  const head = ['symbol', 'interval', 'windows', 'empty', 'first candle', 'last (UTC)', 'size']
  const toRow = (status: CandleStatus) => [
    status.symbol,
    status.interval,
    formatCount(status.windows),
    formatCount(status.empty),
    formatTime(status.firstOpenTime).slice(0, 10),
    formatTime(status.lastOpenTime),
    formatBytes(status.cachedBytes),
  ]
  const text = () =>
    [
      fittingText({ head, rows: series.map(toRow), right: ['windows', 'empty', 'size'] }, 2),
      '',
      `${plural(windows, 'window')} of ${series.length} series, ${formatBytes(cachedBytes)}, from ${baseUrl ?? 'an unknown address'}`,
      `Mirror: ${mirror}`,
    ].join('\n')
  return { json: { mirror, baseUrl: baseUrl ?? null, windows, cachedBytes, series }, text }
}

/** A mirror of the user, what it has, and whether a command without flags uses it. */
type ListedMirror = UserMirror & MirrorFigures & { readonly isDefault: boolean }

/** `mirror list`. `root`: the folder that a command without flags uses. */
export function mirrorListReport(mirrors: readonly ListedMirror[], root: string): Report<MirrorListObject> {
  const head = ['address', 'symbols', 'size', 'newest candle (UTC)', '']
  const rows = mirrors.map(({ baseUrl, symbols, cachedBytes, newest, isDefault }) => {
    return [
      baseUrl ?? 'unknown',
      formatCount(symbols),
      formatBytes(cachedBytes),
      formatTime(newest),
      isDefault ? 'default' : '',
    ]
  })
  const objects = mirrors.map(({ baseUrl = null, newest = null, ...rest }) => ({ baseUrl, ...rest, newest }))
  const table = () => [textTable({ head, rows, right: ['symbols', 'size'] }), '']
  const isThere = mirrors.some(({ isDefault }) => isDefault)
  const folders = mirrors.map(({ root, baseUrl }) => `${baseUrl ?? 'unknown'}: ${root}`)
  return {
    json: { mirrors: objects, default: root },
    text: () =>
      [
        ...(mirrors.length === 0 ? ['There is no mirror. klines download makes one.'] : [...table(), ...folders]),
        ...(isThere ? [] : [`The default, ${root}, is not there.`]),
      ].join('\n'),
  }
}

/** `mirror verify`: every file that is corrupt, and what became of it. */
export function mirrorCheckReport(check: MirrorCheckReport, repair: Repair | undefined): Report<MirrorVerifyObject> {
  const { corrupt, strays, ...counts } = check
  const { repaired = [], failed = [] } = repair ?? {}
  const files = corrupt.map(({ path, reason }) => ({ path, reason }))
  return {
    json: { ...counts, corrupt: files, strays, repaired, failed },
    text: () => checkText(check, repair),
  }
}

function checkText(check: MirrorCheckReport, repair: Repair | undefined): string {
  const { mirror, files, windows, candles, bytes, corrupt, strays } = check
  const lines = corrupt.map(({ path, reason }) => `${printable(path)}: ${reason}`)
  if (lines.length > 0) lines.push('')
  const read = `${plural(files, 'file')} read: ${plural(windows, 'window')}, ${plural(candles, 'candle')}, ${formatBytes(bytes)}.`
  lines.push(`${read} ${corrupt.length === 0 ? 'No problems found.' : `Corrupt: ${plural(corrupt.length, 'file')}.`}`)
  if (repair) {
    lines.push(`${formatCount(repair.repaired.length)} of ${formatCount(corrupt.length)} repaired.`)
    lines.push(...repair.failed.map(({ path, reason }) => `${path} could not be downloaded: ${reason}.`))
  } else if (corrupt.length > 0) lines.push('--repair downloads corrupt files again.')
  if (strays.length > 0) {
    const [have, them] = strays.length === 1 ? ['has', 'it'] : ['have', 'them']
    lines.push(`${plural(strays.length, 'file')} ${have} no place in the mirror: klines mirror prune removes ${them}.`)
  }
  return [...lines, `Mirror: ${mirror}`].join('\n')
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

/** Paths that are listed one by one. */
const MAX_LISTED = 20

/** `mirror prune` and `mirror clear`: the files that were removed, or with `dryRun` would be. */
export function removalReport({ mirror, paths, bytes }: Removal, dryRun = false): Report<MirrorClearObject> {
  const text = () => {
    const lines = firstLines(paths, MAX_LISTED).map(printable)
    if (lines.length > 0) lines.push('')
    lines.push(`${plural(paths.length, 'file')}, ${formatBytes(bytes)}, ${dryRun ? 'would be removed' : 'removed'}.`)
    return [...lines, `Mirror: ${mirror}`].join('\n')
  }
  return { json: { mirror, removed: paths, bytes }, text }
}
