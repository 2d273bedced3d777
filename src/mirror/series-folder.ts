import { join } from 'node:path'
import type { Series } from '../klines/series.js'
import { isStartDate } from '../klines/windows.js'
import { listFolder } from './file-store.js'

const SUFFIX = '.json'

/** The folder of a series' window files. */
export function seriesFolder(root: string, { interval, symbol }: Series): string {
  return join(root, 'api', 'klines', interval, symbol)
}

/** The startDates of a series' window files, ascending, whatever the files contain. Throws what the file system throws. */
export function listStartDates(root: string, series: Series): string[] {
  return listFolder(seriesFolder(root, series))
    .filter(name => name.endsWith(SUFFIX))
    .map(name => name.slice(0, -SUFFIX.length))
    .filter(startDate => isStartDate(series.interval, startDate))
}
