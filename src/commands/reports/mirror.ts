import { join } from 'node:path'
import { seriesPath } from '../../candles/paths.js'
import { formatBytes, plural } from '../../candles/text.js'
import { report, tableOf } from '../../cli/report.js'
import { baseUrl, mirror } from '../../cli/reports/fields.js'
import { column, count, day, derived, integer, list, object, optional, text, time } from '../../cli/schema.js'
import { fittingText, textTable } from '../../cli/terminal/table.js'
import type { MirrorStatus } from '../../engine/mirror-status.js'
import type { PublishReport } from '../../engine/publish.js'
import { indexPath } from '../../mirror/series-index.js'
import type { MirrorFigures, UserMirror } from '../../mirror/user-mirrors.js'

/** What a mirror has, and the other mirrors of the user. */
export interface Mirrors extends MirrorStatus {
  readonly others: readonly (UserMirror & MirrorFigures)[]
}

const size = { ...column('size', count()), show: formatBytes }

const series = {
  symbol: column('symbol', text()),
  interval: column('interval', text()),
  windows: column('windows', count()),
  empty: column('empty', count('windows without candles')),
  firstOpenTime: column('first candle', optional({ ...day(), schema: integer().schema })),
  lastOpenTime: column('last (UTC)', optional({ ...time(), schema: integer().schema })),
  cachedBytes: size,
}

const other = {
  root: text('its folder'),
  baseUrl,
  symbols: column('symbols', count()),
  series: count(),
  windows: count(),
  cachedBytes: size,
  newest: column('newest candle (UTC)', time()),
}

/** `mirror`: what is cached of each series, and a line for each other mirror. */
export const MirrorReport = report(
  'klines-mirror',
  {
    mirror,
    baseUrl,
    windows: count(),
    cachedBytes: count(),
    series: list(object(series)),
    others: list(object(other), 'the other mirrors in the cache folder'),
  },
  ({ others, ...status }: Mirrors) => {
    const { mirror, baseUrl = 'an unknown address', windows, cachedBytes, series: all } = status
    const lines = [fittingText(tableOf(series, all), 2), '']
    lines.push(
      `${plural(windows, 'window')} of ${all.length} series, ${formatBytes(cachedBytes)}, from ${baseUrl}`,
      `Mirror: ${mirror}`,
    )
    if (all.length > 0) {
      const paths = [seriesPath(all[0]), indexPath(all[0])].map(path => join(mirror, path)).join(' and ')
      lines.push(`To remove a series, remove its folder and its index: ${paths}`)
    }
    if (others.length > 0) lines.push('', otherTable(others))
    return lines.join('\n')
  },
)

/** `mirror --path`. */
export const MirrorPath: typeof MirrorReport = { ...MirrorReport, text: ({ mirror }) => mirror }

function otherTable(others: Mirrors['others']): string {
  const name = derived(column('other mirrors', text()), ({ baseUrl = 'unknown' }: UserMirror) => baseUrl)
  return textTable(
    tableOf({ name, ...other, folder: derived(column('folder', text()), ({ root }: UserMirror) => root) }, others),
  )
}

/** `mirror publish`: what the tree has, what was added, and where it is. */
export const MirrorPublish = report(
  'klines-mirror-publish',
  {
    mirror,
    baseUrl: text('base address that the candles come from'),
    tree: derived(text('folder to serve as /api'), treeOf),
    symbols: list(text()),
    intervals: list(text()),
    windows: count('windows in the tree, empty ones too'),
    emptyWritten: count('empty windows that were written'),
    listsWritten: count('lists that were written'),
  },
  (result: PublishReport) => {
    const { symbols, intervals, windows, emptyWritten, listsWritten } = result
    const contents = `${plural(symbols.length, 'symbol')}, ${plural(intervals.length, 'interval')}, ${plural(windows, 'window')}`
    return [
      `The tree is complete: ${contents}. Written: ${plural(emptyWritten, 'empty window')}, ${plural(listsWritten, 'list')}.`,
      `Any static host can serve it: upload ${treeOf(result)} as the folder api of its address.`,
    ].join('\n')
  },
)

function treeOf({ mirror }: PublishReport): string {
  return join(mirror, 'api')
}
