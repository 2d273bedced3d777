import { seriesName, type WindowRef } from '../klines/series.js'
import { type FileVersion, isSameVersion } from './file-store.js'

/** Windows are read series by series, and a few series at once. */
const MAX_SERIES = 8

/** The last candle of a file that was read. */
interface LastCandle extends FileVersion {
  /** Ms UTC; undefined for a window without candles. */
  readonly openTime: number | undefined
}

/** The last candles of windows that were read, of the latest series: whoever has read a window need not read it again for them. */
export class LastCandles {
  private readonly series = new Map<string, Map<string, LastCandle>>()

  add(window: WindowRef, { ino, size, mtimeMs, ctimeMs }: FileVersion, openTime: number | undefined): void {
    const name = seriesName(window)
    const windows = this.series.get(name) ?? new Map<string, LastCandle>()
    windows.set(window.startDate, { ino, size, mtimeMs, ctimeMs, openTime })
    this.series.set(name, windows)
    const [oldest] = this.series.keys()
    if (this.series.size > MAX_SERIES) this.series.delete(oldest)
  }

  /** The last candle of a file; undefined when this version of it was not read. */
  find(window: WindowRef, file: FileVersion): LastCandle | undefined {
    const known = this.series.get(seriesName(window))?.get(window.startDate)
    return isSameVersion(known, file) ? known : undefined
  }
}
