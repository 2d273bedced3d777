import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { KnownTotals } from '../../download/sources/window-source.js'
import type { EncodedTask, EncodeTask } from '../../export/encode.js'
import type { PlannedSeries } from '../../export/export-series.js'
import { hasSameContent, versionText } from '../../export/file-content.js'
import { commitOutputs } from '../../export/output/commit.js'
import { discardFile, type FilePlace, removeTemp } from '../../export/output/file.js'
import type { FinishedOutput, WrittenFile } from '../../export/output-writer.js'
import { CandleGrid } from '../../klines/resample/candle-grid.js'
import type { TimeRange } from '../../klines/time-range.js'
import { windowSpan } from '../../klines/windows.js'
import { PART_FILE, type Partition, partFolder, partSpan } from '../layout.js'
import type { LakePart } from '../manifest.js'
import { removeEmptyFolders } from '../removal.js'
import { prepareLakeFile } from '../root/files.js'
import { type SeriesState, yearsOf } from './series-state.js'

/** What the parts of a run have in common. */
interface PartOptions {
  readonly root: string
  readonly partition: Partition
  /** Open times of the rows of the lake, ms UTC. */
  readonly range: TimeRange
}

/** How parts are put in their places. */
interface Placing {
  /** Runs before a part is put in its place. */
  readonly beforeCommit: () => Promise<void>
  /** Called with each new part when it is in its place. */
  readonly placed: (file: WrittenFile) => void
}

/** A part that a series may have: whether it has rows is known when it is written. */
interface PossiblePart {
  /** Relative to the lake. */
  readonly folder: string
  /** The startDates of the windows that it depends on. */
  readonly windows: readonly string[]
  /** Open times of its rows, ms UTC. */
  readonly range: TimeRange
  /** The part that is there and stays. */
  readonly current: LakePart | undefined
  /** Where the file of a part is written, if it is. */
  readonly place: FilePlace | undefined
}

/** The parts of a series: they are written beside their places, and put there when all of the lake is complete. */
export class SeriesParts {
  /** What was written, and what was learned about the series. */
  encoded: EncodedTask | undefined
  /** Paths of the files that are in their places. */
  private readonly placed = new Set<string>()

  private constructor(
    private readonly state: SeriesState,
    private readonly options: PartOptions,
    private readonly parts: PossiblePart[] = [],
  ) {}

  /** Checks the places of the parts that are to be written. Throws `linked_path` and what `prepareFile` throws. */
  static async prepare(state: SeriesState, options: PartOptions): Promise<SeriesParts> {
    const { root, partition, range } = options
    const { planned } = state
    const series = new SeriesParts(state, options)
    try {
      for (const [folder, span] of possibleSpans(state, partition, range)) {
        const windows = neededWindows(planned, span)
        const current = state.currentPart(folder, windows)
        const place = current ? undefined : await prepareLakeFile(root, `${folder}/${PART_FILE}`, { force: true })
        series.parts.push({ folder, windows, range: span, current, place })
      }
      return series
    } catch (error) {
      await series.discard()
      throw error
    }
  }

  /** What is to be encoded. */
  get task(): EncodeTask {
    const { planned, unknown, years } = this.state
    const outputs = this.parts.map(({ folder, range, current, place }) => ({
      ...({ path: place?.path ?? folder, format: 'parquet', gzip: false, series: [planned] } as const),
      ...{ range, place, stays: current !== undefined },
    }))
    return { series: [planned], outputs, unknown, counted: this.findCounted(), years }
  }

  /** Puts the parts in their places, one after the other, and describes all. */
  async place(placing: Placing): Promise<LakePart[]> {
    const placed: LakePart[] = []
    for (const [index, part] of this.parts.entries()) {
      const output = this.encoded?.outputs[index]
      if (part.current) placed.push(part.current)
      else if (output) placed.push(await this.placeOne(part, output, placing))
    }
    return placed
  }

  /** Removes what is not in its place. Never throws. */
  async discard(): Promise<void> {
    for (const { place, folder } of this.parts.toReversed()) {
      if (place === undefined || this.placed.has(place.path)) continue
      await discardFile(place)
      // Another part may have made a folder that both were in.
      removeEmptyFolders(this.options.root, `${folder}/${PART_FILE}`)
    }
  }

  /** Removes what an ended thread may have left, so that the parts can be written again. Never throws. */
  async clear(): Promise<void> {
    for (const { place } of this.parts) await removeTemp(place)
  }

  /** The windows that no part and no year needs, which is to be written or computed again. */
  private findCounted(): Map<string, KnownTotals> {
    const { planned, years } = this.state
    const needed = new Set(this.parts.flatMap(({ current, windows }) => (current ? [] : windows)))
    const counted = new Map<string, KnownTotals>()
    for (const window of planned.windows) {
      const isStale = years === 'all' || yearsOf(window).some(year => years?.has(year))
      const totals = isStale || needed.has(window.startDate) ? undefined : this.state.counted(window)
      if (totals) counted.set(window.startDate, totals)
    }
    return counted
  }

  /** Puts a part in its place by one rename, unless there is one with the same content. */
  private async placeOne(
    { folder, windows }: PossiblePart,
    output: FinishedOutput,
    placing: Placing,
  ): Promise<LakePart> {
    const { file, firstOpenTime, lastOpenTime } = output
    const { root } = this.options
    const content = { size: file.bytes, sha256: output.sha256 as string }
    const facts = { rows: file.candles, firstOpenTime, lastOpenTime, windows }
    const same = this.state.partOnDisk(folder)
    if (same && hasSameContent(same, content)) return { path: same.path, ...content, version: same.version, ...facts }
    await placing.beforeCommit()
    await commitOutputs([{ path: file.path, finished: output.finished }])
    this.placed.add(file.path)
    placing.placed(file)
    const path = `${folder}/${PART_FILE}`
    return { path, ...content, version: versionText(lstatSync(join(root, path))), ...facts }
  }
}

/** The spans of all parts that a series may have in a range, by their folders. Some may have no row. */
function possibleSpans(state: SeriesState, partition: Partition, range: TimeRange): Map<string, TimeRange> {
  const { source, resampleTo } = state.planned
  const grid = resampleTo && new CandleGrid(resampleTo, source.symbol)
  const spans = new Map<string, TimeRange>()
  for (const window of state.planned.windows) {
    const { startTime, endTime } = windowSpan(window)
    // A resampled candle may open before the window of its first candle.
    let time = Math.max(grid ? grid.start(startTime) : startTime, range.fromTime)
    while (time < Math.min(endTime, range.toTime)) {
      const span = partSpan(partition, time)
      spans.set(partFolder(state.planned, partition, time), span)
      time = span.toTime
    }
  }
  return spans
}

/** The startDates of the windows that a part depends on: those that overlap it; for resampled candles all of them. */
function neededWindows({ windows, resampleTo }: PlannedSeries, { fromTime, toTime }: TimeRange): string[] {
  return windows.flatMap(window => {
    const { startTime, endTime } = windowSpan(window)
    return resampleTo || (startTime < toTime && endTime > fromTime) ? window.startDate : []
  })
}
