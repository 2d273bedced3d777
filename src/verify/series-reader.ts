import { mayBeOffGrid, nextOpenTime } from '../candles/intervals.js'
import type { Series, WindowRef } from '../candles/series.js'
import type { TimeRange } from '../candles/time-range.js'
import { type WindowSpan, windowSpan } from '../candles/windows.js'
import type { CachedWindow, Mirror, WindowRead } from '../mirror/mirror.js'
import type { IndexEntries } from '../mirror/series-index.js'
import { firstCandle, newestCandle } from '../mirror/status.js'
import type { WindowFacts } from '../mirror/window-state.js'
import { buildSeriesGrid, type CandleGrid } from '../rows/candle-grid.js'
import type { CandleTable } from '../rows/candle-table.js'
import { sha256 } from '../rows/fingerprint.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { SeriesInspector } from './inspect.js'
import { addSpan, overlaps, without } from './spans.js'

export interface SeriesTask {
  readonly series: Series
  /** Whether it is reported; else its candles are only what others are compared with. */
  readonly isNamed: boolean
  readonly windows: readonly WindowRef[]
}

/** Which candles are read, by their open times. */
export interface ReadScope {
  /** Those that are reported. */
  readonly range: TimeRange
  /** Until when candles are read: the last longer candle of the range ends after it. */
  readonly readTo: number
}

export type SeriesFindings = ReturnType<SeriesReader['end']>

/** Reads a series into a table, slice by slice of time, and inspects the candles of the range. */
export class SeriesReader {
  readonly series: Series
  readonly isNamed: boolean
  grid: CandleGrid
  firstOpenTime: number | undefined
  private lastOpenTime: number | undefined
  private done = 0
  private readonly index: IndexEntries
  /** When the last candle ends that the index knows, or that was read: after it nothing is missing. */
  private knownUntil: number
  private readonly inspector: SeriesInspector
  private readonly loaded: WindowSpan[] = []
  /** The time of candles that the exchange has off the grid. */
  private readonly offGrid: WindowSpan[] = []
  private wasOffGrid = false
  private readonly files = {
    /** Windows that have a file. */
    windows: 0,
    missingWindows: [] as string[],
    /** Windows whose file is corrupt, or not as it was downloaded. */
    corrupt: [] as { startDate: string; reason: string }[],
  }

  /** `table`: where the candles go until they are dropped; its kernel reads the files. */
  constructor(
    private readonly mirror: Mirror,
    private readonly task: SeriesTask,
    readonly table: CandleTable,
    private readonly scope: ReadScope,
  ) {
    const { series, isNamed } = task
    const { fromTime } = scope.range
    this.series = series
    this.isNamed = isNamed
    this.index = mirror.facts(series)
    const begin = fromTime === -Infinity ? undefined : firstCandle(mirror, series)
    this.grid = buildSeriesGrid(series, begin)
    // Also of a file that was cut since.
    const downloaded = [...this.index.values()].map(({ last }) => last ?? -Infinity)
    // Without an end of the range, all candles are read.
    const cached = scope.readTo === Infinity ? undefined : newestCandle(mirror, series)
    const newest = Math.max(cached ?? -Infinity, ...downloaded)
    this.knownUntil = newest === -Infinity ? newest : nextOpenTime(series.interval, newest)
    this.inspector = new SeriesInspector(series.interval, begin !== undefined && begin < fromTime ? begin : undefined)
  }

  /** The time that was read whole, without that of candles off the grid; ascending. */
  get spans(): readonly WindowSpan[] {
    return without(this.known(this.scope.readTo), this.offGrid)
  }

  /** Whether another window is needed for the candles before `time`, and the next one, ms UTC. */
  needsMore(time: number): boolean {
    return this.done < this.task.windows.length && !(this.lastOpenTime !== undefined && this.lastOpenTime >= time)
  }

  /** Reads the next window. Throws `mirror_unusable`. */
  readNext(): void {
    const { mirror, table, scope, task, isNamed } = this
    const window = task.windows[this.done++]
    const span = windowSpan(window)
    const read = mirror.read(window, table.kernel)
    if (isNamed && span.startTime < scope.range.toTime) this.report(window, read)
    if (read.state === 'cached') this.add(span, read.batch)
  }

  /** `unverified`: candles that were compared with no finer ones. */
  end(unverified: number) {
    const inspection = this.inspector.end(this.grid, this.known(this.scope.range.toTime), this.knownUntil)
    return { ...this.series, ...inspection, ...this.files, unverified }
  }

  private report({ startDate }: WindowRef, read: WindowRead): void {
    if (read.state === 'missing') return void this.files.missingWindows.push(startDate)
    this.files.windows++
    const reason = read.state === 'corrupt' ? read.reason : findChange(this.index.get(startDate), read)
    if (reason !== undefined) this.files.corrupt.push({ startDate, reason })
  }

  /** The time of the windows that were read, up to `time` and the end of what is known of the series. */
  private known(time: number): WindowSpan[] {
    return overlaps(this.loaded, [{ startTime: -Infinity, endTime: Math.min(time, this.knownUntil) }])
  }

  private add(span: WindowSpan, batch: KlineBatch): void {
    const { table, scope, loaded, series } = this
    const { fromTime, toTime } = scope.range
    const [startTime, endTime] = [Math.max(span.startTime, fromTime), Math.min(span.endTime, scope.readTo)]
    if (startTime < endTime) addSpan(loaded, { startTime, endTime })
    if (batch.length === 0) return
    if (this.firstOpenTime === undefined) this.grid = buildSeriesGrid(series, batch.firstOpenTime)
    this.addOffGrid(batch)
    const rows = batch.slice(fromTime, scope.readTo)
    const { firstOpenTime, lastOpenTime } = rows
    if (lastOpenTime === undefined) return
    this.firstOpenTime ??= firstOpenTime
    this.lastOpenTime = lastOpenTime
    this.knownUntil = Math.max(this.knownUntil, nextOpenTime(series.interval, lastOpenTime))
    const before = table.length
    table.add(rows)
    const inRange = table.rowFrom(toTime)
    if (this.isNamed && inRange > before) this.inspector.add(table, before, inRange, this.grid, loaded)
  }

  /** A stretch of candles off the grid lasts until its last one should end, after the next candle opens. */
  private addOffGrid(batch: KlineBatch): void {
    const { grid, offGrid, series } = this
    for (let row = 0; row < batch.length && mayBeOffGrid(batch.openTime(row)); row++) {
      const startTime = batch.openTime(row)
      const isOffGrid = grid.offset(startTime) !== 0
      const start = this.wasOffGrid ? offGrid[offGrid.length - 1].endTime : startTime
      if (isOffGrid) addSpan(offGrid, { startTime: start, endTime: nextOpenTime(series.interval, startTime) })
      this.wasOffGrid = isOffGrid
    }
  }
}

/** How a valid file is not as it was downloaded, as far as the index knows. */
function findChange(facts: WindowFacts | undefined, { bytes, batch }: CachedWindow): string | undefined {
  if (facts === undefined || (facts.size === bytes.length && facts.sha256 === sha256(bytes))) return undefined
  const ends = [facts.last, facts.first]
  const lost = ends.find(time => time !== undefined && batch.slice(time, time + 1).length === 0)
  const what = lost ? `: it lacks the candle of ${new Date(lost).toISOString()}, which the mirror has had` : ''
  return `not as it was downloaded${what}; klines download --refresh replaces it`
}
