import type { ExportRun } from '../../export/export-series.js'
import { type EncoderOptions, type TargetCounts, TargetEncoder } from '../../export/target-encoder.js'
import type { KlineBatch } from '../../klines/batch/kline-batch.js'
import type { TimeRange } from '../../klines/time-range.js'
import { windowSpan } from '../../klines/windows.js'
import { type Partition, partFolder, partSpan } from '../layout.js'

/** How the parts of a lake are encoded. */
export interface PartEncoding extends EncoderOptions {
  readonly partition: Partition
}

/** The start of a part. */
export interface PartStart {
  /** Relative to the lake. */
  readonly folder: string
  /** The startDates of the windows that it depends on. */
  readonly windows: readonly string[]
  /** Whether the part that is there stays: no bytes follow. */
  readonly isCurrent: boolean
}

/** The rows of a part: their numbers and their open times, ms UTC. */
export interface PartRows {
  readonly counts: TargetCounts
  readonly firstOpenTime: number
  readonly lastOpenTime: number
}

/** What comes of a part: its start, its bytes, and its end. */
export type PartMessage = { readonly begin: PartStart } | Uint8Array | { readonly end: PartRows }

/** Splits the rows of a series into its parts, and turns those that are not current into bytes, one after the other. */
export class PartEncoder {
  private encoder: TargetEncoder | undefined
  private firstOpenTime = 0
  private lastOpenTime = 0
  /** The span of the part in progress, ms UTC. */
  private span: TimeRange = { fromTime: Infinity, toTime: -Infinity }

  /** `current`: of each part whose windows are unchanged, by its folder, the startDates of its windows. */
  constructor(
    private readonly run: ExportRun,
    private readonly current: ReadonlyMap<string, readonly string[]>,
    private readonly encoding: PartEncoding,
    private readonly emit: (message: PartMessage) => Promise<void>,
  ) {}

  /** Adds rows in order of time. */
  async write(batch: KlineBatch | undefined): Promise<void> {
    for (let rest = batch; rest && rest.length > 0; rest = rest.slice(this.span.toTime, Infinity)) {
      const openTime = rest.openTime(0)
      if (openTime >= this.span.toTime) await this.begin(openTime)
      const rows = rest.slice(-Infinity, this.span.toTime)
      this.lastOpenTime = rows.openTime(rows.length - 1)
      await this.encoder?.write(rows)
    }
  }

  /** Ends the part in progress. */
  async end(): Promise<void> {
    const { encoder, firstOpenTime, lastOpenTime } = this
    if (encoder === undefined) return
    await encoder.end()
    this.encoder = undefined
    await this.emit({ end: { counts: encoder.counts, firstOpenTime, lastOpenTime } })
  }

  /** Frees memory when the series is given up. */
  abort(): void {
    this.encoder?.abort()
  }

  private async begin(openTime: number): Promise<void> {
    await this.end()
    const { run, encoding, emit } = this
    this.firstOpenTime = openTime
    this.span = partSpan(encoding.partition, openTime)
    const folder = partFolder(run, encoding.partition, openTime)
    const windows = this.findWindows()
    const isCurrent = String(this.current.get(folder)) === String(windows)
    const target = { path: folder, format: 'parquet', gzip: false, series: [run] } as const
    await emit({ begin: { folder, windows, isCurrent } })
    if (!isCurrent) this.encoder = new TargetEncoder(target, encoding, emit)
  }

  /** The windows that the part in progress depends on: those that overlap it; for resampled candles all of them. */
  private findWindows(): string[] {
    const { windows, target } = this.run
    const { fromTime, toTime } = this.span
    const isNeeded = (startTime: number, endTime: number) => target || (startTime < toTime && endTime > fromTime)
    return windows.flatMap(window => {
      const { startTime, endTime } = windowSpan(window)
      return isNeeded(startTime, endTime) ? window.startDate : []
    })
  }
}
