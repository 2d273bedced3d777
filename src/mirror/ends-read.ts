import { seriesName, type WindowRef } from '../klines/series.js'
import type { WindowEnds } from '../trees/window-ends.js'
import { type FileVersion, isSameVersion } from './file-store.js'

/** Windows are read series by series, and a few series at once. */
const MAX_SERIES = 8

interface ReadEnds extends FileVersion, WindowEnds {}

/** The first and last candles of windows that were read, of the latest series: whoever has read a window need not read it again. */
export class EndsRead {
  private readonly series = new Map<string, Map<string, ReadEnds>>()

  add(window: WindowRef, version: FileVersion, { firstOpenTime, lastOpenTime }: WindowEnds): void {
    const { ino, size, mtimeMs, ctimeMs } = version
    const name = seriesName(window)
    const windows = this.series.get(name) ?? new Map<string, ReadEnds>()
    windows.set(window.startDate, { ino, size, mtimeMs, ctimeMs, firstOpenTime, lastOpenTime })
    this.series.set(name, windows)
    const [oldest] = this.series.keys()
    if (this.series.size > MAX_SERIES) this.series.delete(oldest)
  }

  /** The candles of a file; undefined when this version of it was not read. */
  find(window: WindowRef, file: FileVersion): WindowEnds | undefined {
    const known = this.series.get(seriesName(window))?.get(window.startDate)
    return isSameVersion(known, file) ? known : undefined
  }
}
