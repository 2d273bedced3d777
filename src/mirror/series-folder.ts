import { opendirSync } from 'node:fs'
import { join } from 'node:path'
import { errnoCode } from '../fs/errno.js'
import { EXCHANGE_INTERVALS, type Interval } from '../klines/intervals.js'
import { intervalSegment } from '../klines/paths.js'
import type { Series } from '../klines/series.js'
import { isSymbol, type SymbolName, sortSymbols } from '../klines/symbols.js'
import { isStartDate } from '../klines/windows.js'
import { listFolder } from './file-store.js'

const SUFFIX = '.json'

/** The folder of a series' window files. */
export function seriesFolder(root: string, { interval, symbol }: Series): string {
  return join(root, 'api', 'klines', intervalSegment(interval), symbol)
}

/** The startDates of a series' window files, ascending, whatever the files contain. Throws what the file system throws. */
export function listStartDates(root: string, series: Series): string[] {
  const names = listFolder(seriesFolder(root, series)).filter(name => isWindowFile(series, name))
  return names.map(name => name.slice(0, -SUFFIX.length))
}

/** Whether a series has a window file, whatever it contains. Reads no more names than it takes. Throws what the file system throws. */
export function hasStartDates(root: string, series: Series): boolean {
  try {
    const folder = opendirSync(seriesFolder(root, series))
    try {
      for (let entry = folder.readSync(); entry; entry = folder.readSync()) {
        if (isWindowFile(series, entry.name)) return true
      }
      return false
    } finally {
      folder.closeSync()
    }
  } catch (error) {
    const code = errnoCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw error
  }
}

function isWindowFile({ interval }: Series, name: string): boolean {
  return name.endsWith(SUFFIX) && isStartDate(interval, name.slice(0, -SUFFIX.length))
}

/** The symbols with a folder for windows of an interval, which may be empty. Throws what the file system throws. */
export function listSymbolFolders(root: string, interval: Interval): SymbolName[] {
  return listFolder(join(root, 'api', 'klines', intervalSegment(interval))).filter(isSymbol)
}

/** Whether any symbol has a window file of an interval, whatever it contains. Throws what the file system throws. */
export function hasInterval(root: string, interval: Interval): boolean {
  return listSymbolFolders(root, interval).some(symbol => hasStartDates(root, { symbol, interval }))
}

/** The symbols with a window file of any interval: the ten of the public service first, then the others by name. */
export function listSymbols(root: string): SymbolName[] {
  const found = new Set<SymbolName>()
  for (const interval of EXCHANGE_INTERVALS) {
    for (const symbol of listSymbolFolders(root, interval)) {
      if (!found.has(symbol) && hasStartDates(root, { symbol, interval })) found.add(symbol)
    }
  }
  return sortSymbols(found)
}
