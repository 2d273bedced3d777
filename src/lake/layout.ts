import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { intervalSegment, parseIntervalSegment } from '../candles/paths.js'
import type { SeriesLabel } from '../candles/series.js'
import { isSymbol } from '../candles/symbols.js'

/** How the parts of a lake lie in folders: `symbol=BTCUSDT/interval=1h/part-0.parquet`, as Hive names them. */
export const LAYOUTS = ['hive'] as const

/** The calendar span of a part: the whole series, a year or a month (UTC, by open time). */
export const PARTITIONS = ['none', 'year', 'month'] as const

/** One of `PARTITIONS`. */
export type Partition = (typeof PARTITIONS)[number]

export const PART_FILE = 'part-0.parquet'

const PART_PATH =
  /^symbol=([^/]+)\/interval=(\d{1,6}[A-Za-z]{1,3})(?:\/year=\d{4,6}(?:\/month=\d{2})?)?\/part-0\.parquet$/
const SERIES_FOLDERS = /^(?:symbol|interval|year|month)=/

export function seriesFolder({ symbol, interval }: SeriesLabel): string {
  return `symbol=${symbol}/interval=${intervalSegment(interval)}`
}

/** The part that holds an open time, ms UTC: its path in the lake, and until when its rows open. */
export function partAt(series: SeriesLabel, partition: Partition, openTime: number) {
  const folder = seriesFolder(series)
  if (partition === 'none') return { path: `${folder}/${PART_FILE}`, toTime: Infinity }
  const [year, month] = new Date(openTime).toISOString().split('-')
  if (partition === 'year')
    return { path: `${folder}/year=${year}/${PART_FILE}`, toTime: Date.UTC(Number(year) + 1, 0) }
  return { path: `${folder}/year=${year}/month=${month}/${PART_FILE}`, toTime: Date.UTC(Number(year), Number(month)) }
}

/** The series of a part's path, and how it is partitioned; undefined for a path that no part can have. */
export function parsePartPath(path: string): (SeriesLabel & { readonly partition: Partition }) | undefined {
  const [, symbol, segment] = PART_PATH.exec(path) ?? []
  const interval = segment === undefined ? undefined : parseIntervalSegment(segment)
  if (!isSymbol(symbol) || interval === undefined) return undefined
  const partition = path.includes('/month=') ? 'month' : path.includes('/year=') ? 'year' : 'none'
  return { symbol, interval, partition }
}

/** The paths of all files in the root of a lake and in the folders of its series, relative to it, sorted. Links are not followed. */
export function findFiles(root: string, folder = ''): string[] {
  const found = readdirSync(join(root, folder), { withFileTypes: true }).flatMap(entry => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isFile()) return [path]
    return entry.isDirectory() && SERIES_FOLDERS.test(entry.name) ? findFiles(root, path) : []
  })
  return found.sort()
}
