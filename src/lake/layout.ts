import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { intervalSegment, parseIntervalSegment } from '../candles/paths.js'
import type { SeriesLabel } from '../candles/series.js'
import { isSymbol } from '../candles/symbols.js'

/** How the parts of a lake lie in folders: `symbol=BTCUSDT/interval=1h/part-0.parquet`, as Hive names them. */
export const LAYOUTS = ['hive'] as const

const PART_PATH = /^symbol=([^/]+)\/interval=(\d{1,6}[A-Za-z]{1,3})\/part-0\.parquet$/
const SERIES_FOLDERS = /^(?:symbol|interval)=/

/** The path of the part of a series in a lake. */
export function partPath({ symbol, interval }: SeriesLabel): string {
  return `symbol=${symbol}/interval=${intervalSegment(interval)}/part-0.parquet`
}

/** The series of a part's path; none for a path that no part can have. */
export function seriesOfPart(path: string): SeriesLabel[] {
  const [, symbol, segment] = PART_PATH.exec(path) ?? []
  const interval = segment === undefined ? undefined : parseIntervalSegment(segment)
  return isSymbol(symbol) && interval !== undefined ? [{ symbol, interval }] : []
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
