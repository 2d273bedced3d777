import type { MirrorSourceContents } from '../download/sources/mirror-source-contents.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { type Series, windowOf } from '../klines/series.js'
import { parseDate } from '../klines/windows.js'
import type { Mirror } from '../mirror/mirror.js'
import type { NoWindow, WindowRows } from '../mirror/mirror-windows.js'

/** A window of a series as the mirror has it: `empty` without a file, of a complete mirror. */
export type CachedRows = WindowRows | NoWindow | { readonly state: 'empty' }

/** The windows of a series in a mirror, by their index in order of time; each is read once. */
export class CachedSeries {
  private readonly rows = new Map<number, CachedRows>()

  private constructor(
    private readonly mirror: Mirror,
    private readonly series: Series,
    /** Those that are listed or cached, ascending. */
    readonly startDates: readonly string[],
    private readonly emptyWithoutFile: boolean,
  ) {}

  static async open(
    mirror: Mirror,
    contents: MirrorSourceContents,
    { symbol, interval }: Series,
  ): Promise<CachedSeries> {
    const series = { symbol, interval }
    const dates = new Set([...(await contents.startDates(interval)), ...contents.cachedStartDates(series)])
    return new CachedSeries(mirror, series, [...dates].sort(), contents.isEmptyWithoutFile(series))
  }

  /** The index of the window that contains `time` (ms UTC), or of the last one before it; -1 before the first one. */
  indexAt(time: number): number {
    return this.startDates.findLastIndex(startDate => parseDate(startDate) <= time)
  }

  window(index: number) {
    return windowOf(this.series, this.startDates[index])
  }

  /** Throws `mirror_unusable`. */
  read(index: number): CachedRows {
    const known = this.rows.get(index)
    if (known) return known
    const read = this.mirror.windows.readRows(this.window(index))
    const rows: CachedRows = read.state === 'missing' && this.emptyWithoutFile ? { state: 'empty' } : read
    this.rows.set(index, rows)
    return rows
  }

  /** The last candle that opens before `time` (ms UTC), if no window between is missing: a batch of one row. */
  lastBefore(time: number): KlineBatch | undefined {
    return this.search(this.indexAt(time), -1, batch => {
      const earlier = batch.slice(-Infinity, time)
      return earlier.rows(earlier.length - 1, earlier.length)
    })
  }

  /** The first candle that opens at `time` (ms UTC) or later, if no window between is missing: a batch of one row. */
  firstFrom(time: number): KlineBatch | undefined {
    return this.search(Math.max(0, this.indexAt(time)), 1, batch => batch.slice(time, Infinity).rows(0, 1))
  }

  private search(start: number, step: number, find: (batch: KlineBatch) => KlineBatch): KlineBatch | undefined {
    for (let index = start; index >= 0 && index < this.startDates.length; index += step) {
      const read = this.read(index)
      if (read.state === 'missing' || read.state === 'corrupt') return undefined
      const found = read.state === 'cached' && read.batch.length > 0 ? find(read.batch) : undefined
      if (found && found.length > 0) return found
    }
    return undefined
  }
}
