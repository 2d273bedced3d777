import { incomplete } from '../../download/errors.js'
import type { WindowResult, WindowSource } from '../../download/sources/window-source.js'
import { streamWindows } from '../../download/window-stream.js'
import type { ExportRun } from '../../export/export-series.js'
import type { WrittenFile } from '../../export/target-writer.js'
import { countCandles } from '../../klines/audit/gap-counter.js'
import type { KlineBatch } from '../../klines/batch/kline-batch.js'
import { Resampler } from '../../klines/resample/resampler.js'
import type { TimeRange } from '../../klines/time-range.js'
import { windowSpan } from '../../klines/windows.js'
import { partFolder, partSpan } from '../layout.js'
import type { LakePart } from '../manifest.js'
import type { LakeOptions } from '../options.js'
import type { FileContent } from './file-version.js'
import { type PartOptions, PartWriter, type PresentPart } from './part-writer.js'
import { type PackedTotals, packTotals } from './window-content.js'

/** How series are written. */
export interface SeriesOptions extends PartOptions {
  readonly source: WindowSource
  readonly options: LakeOptions
  /** Open times of the rows to write, ms UTC. */
  readonly range: TimeRange
  /** The part in a folder, if it is on the disk as the manifest says. */
  readonly presentPart: (folder: string) => LakePart | undefined
  /** The part in a folder, if it has that content. */
  readonly findSame: (folder: string, content: FileContent) => PresentPart | undefined
  /** Whether a part that is present has the rows of these windows. */
  readonly isCurrent: (part: LakePart, windows: readonly string[]) => boolean
  /** Runs before a part is put in its place. */
  readonly beforeCommit: () => Promise<void>
}

/** Writes the parts of one series that are not current, one after the other. */
export class SeriesWriter {
  readonly parts: LakePart[] = []
  readonly files: WrittenFile[] = []
  /** Of the windows that lie in the range as a whole, by startDate. */
  readonly totals = new Map<string, PackedTotals>()
  private writer: PartWriter | undefined
  /** The span of the part in progress, ms UTC. */
  private span: TimeRange = { fromTime: Infinity, toTime: -Infinity }

  constructor(
    private readonly run: ExportRun,
    private readonly options: SeriesOptions,
  ) {}

  /** Reads the windows, which are cached, and writes the parts. Throws `incomplete` when a window is missing by now. */
  async write(): Promise<void> {
    const { run, options } = this
    const { source, range, signal } = options
    const coveredFrom = run.plan.listedFrom
    const partial = options.options.partial
    const resampler = run.target && new Resampler(run.source, run.target, { range, partial, coveredFrom })
    try {
      for await (const { result } of streamWindows(source, [run], { signal, borrow: true })) {
        if (result.status === 'failed') throw incomplete([result], run.windows.length, source, true)
        this.count(result)
        await this.add(resampler ? resampler.add(result.batch) : result.batch)
      }
      await this.add(resampler?.end())
      await this.endPart()
    } catch (error) {
      await this.writer?.discard()
      throw error
    }
  }

  private count({ window, batch }: WindowResult): void {
    const { source, range } = this.run
    const { startTime, endTime } = windowSpan(window)
    if (startTime < range.fromTime || endTime > range.toTime) return
    this.totals.set(window.startDate, packTotals(countCandles(source, batch)))
  }

  private async add(batch: KlineBatch | undefined): Promise<void> {
    for (let rest = batch; rest && rest.length > 0; rest = rest.slice(this.span.toTime, Infinity)) {
      const openTime = rest.openTime(0)
      if (openTime >= this.span.toTime) await this.beginPart(openTime)
      await this.writer?.write(rest.slice(-Infinity, this.span.toTime))
    }
  }

  private async beginPart(openTime: number): Promise<void> {
    await this.endPart()
    const { partition } = this.options.options
    this.span = partSpan(partition, openTime)
    const folder = partFolder(this.run, partition, openTime)
    const windows = this.findWindows()
    const present = this.options.presentPart(folder)
    if (present && this.options.isCurrent(present, windows)) this.parts.push(present)
    else this.writer = new PartWriter(folder, this.run, windows, this.options)
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

  private async endPart(): Promise<void> {
    const { writer } = this
    if (writer === undefined) return
    const { findSame, beforeCommit } = this.options
    const { part, file } = await writer.place(findSame, beforeCommit)
    this.writer = undefined
    this.parts.push(part)
    if (file) this.files.push(file)
  }
}
