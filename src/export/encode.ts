import { completeUntil } from '../download/coverage.js'
import type { KnownTotals, WindowResult, WindowSource } from '../download/sources/window-source.js'
import { DownloadTally, type SeriesReport } from '../download/tally.js'
import { nextWindow, readWindows, type WindowStream } from '../download/window-stream.js'
import { Fingerprinter, type SeriesFingerprint } from '../fingerprint/fingerprint.js'
import { sha256 } from '../fs/checksum.js'
import { countCandles, type SeriesTotals } from '../klines/audit/gap-counter.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { Resampler } from '../klines/resample/resampler.js'
import type { SeriesLabel, WindowRef } from '../klines/series.js'
import type { RequestedRange, TimeRange } from '../klines/time-range.js'
import { windowSpan } from '../klines/windows.js'
import type { PlannedSeries } from './export-series.js'
import { type FileContent, settledVersion } from './file-content.js'
import { type FilePlace, OutputFile } from './output/file.js'
import type { Output } from './output/output.js'
import type { OutputSpec } from './output-spec.js'
import { type FinishedOutput, type OutputFormat, OutputWriter } from './output-writer.js'

/** How all tasks of a run are encoded. */
export interface Encoding extends OutputFormat {
  /** Open times of the rows to write, ms UTC. */
  readonly range: RequestedRange
  readonly partial: boolean | undefined
  /** The most rows of each series: the first ones. Default: all. */
  readonly limit?: number | undefined
}

/** One output of a task, and which rows go to it. */
export interface TaskOutput extends OutputSpec<SeriesLabel> {
  /** Open times of its rows, ms UTC. Those of the outputs of a task ascend. */
  readonly range: TimeRange
  /** Where its file is written; undefined for a stream, which only the main thread writes. */
  readonly place: FilePlace | undefined
  /** Its rows are there already: they are read, and not written. */
  readonly stays?: boolean
}

/**
 * What a thread does at a time: the windows of some series, which are read in order, and the outputs that their rows go to, one after
 * the other. An export has one output with all rows of its series, a lake the parts of one series. Plain data.
 */
export interface EncodeTask {
  readonly series: readonly PlannedSeries[]
  readonly outputs: readonly TaskOutput[]
  /** Set for a lake, which remembers what its parts were made of: the startDates of the windows whose content is to be found out. */
  readonly unknown?: ReadonlySet<string>
  /** Of a lake: windows of its series that need not be read, by startDate. */
  readonly counted?: ReadonlyMap<string, KnownTotals>
  /** The years of which a fingerprint is wanted, for a task of one series. */
  readonly years?: ReadonlySet<number> | 'all' | undefined
}

/** What a lake learns about the windows of a series while they are read, by startDate. */
export interface ReadWindows {
  /** Of the windows that lie in the range as a whole. */
  readonly totals: ReadonlyMap<string, SeriesTotals>
  /** Of the unknown windows. */
  readonly contents: ReadonlyMap<string, FileContent>
}

/** A task all of whose outputs are written. */
export interface EncodedTask {
  /** One for each output; undefined for one without rows, and for one that stays. */
  readonly outputs: readonly (FinishedOutput | undefined)[]
  readonly windows: ReadWindows
  /** Of the years that were wanted; undefined without candles. */
  readonly fingerprint: SeriesFingerprint | undefined
}

/** Where the windows of a task come from, and where its bytes go. */
export interface EncodeContext {
  readonly source: WindowSource
  /** The windows of this task and of those after it. */
  readonly windows: WindowStream<PlannedSeries>
  /** Counts the windows. */
  readonly tally: DownloadTally
  /** Opens what takes the bytes of an output. */
  readonly open: (output: TaskOutput) => Promise<Output>
}

/**
 * Reads the windows of a task and writes its outputs. After a window that could not be read, the others are only counted (and
 * downloaded, for the next run), and it returns undefined. Then, and when it throws, nothing is left of its outputs. Throws what the
 * format, the outputs and the source throw.
 */
export async function encodeTask(
  task: EncodeTask,
  encoding: Encoding,
  { source, windows, tally, open }: EncodeContext,
): Promise<EncodedTask | undefined> {
  const writer = new TaskWriter(task, encoding, open)
  const totals = new Map<string, SeriesTotals>()
  const contents = new Map<string, FileContent>()
  const learn = (series: PlannedSeries, result: WindowResult) => {
    const { startDate } = result.window
    if (isInside(series, result)) totals.set(startDate, countCandles(series.source, result.batch))
    if (task.unknown?.has(startDate)) contents.set(startDate, contentOf(result))
  }
  const { years } = task
  const fingerprinter = years && new Fingerprinter(task.series[0])
  let isDone = false
  try {
    for (const series of task.series) {
      let left = encoding.limit ?? Number.POSITIVE_INFINITY
      const learnFrom = task.unknown && ((result: WindowResult) => learn(series, result))
      const context = { source, windows, tally, counted: task.counted }
      for await (const batch of readSeries(series, encoding, context, learnFrom)) {
        const rows = batch.length > left ? batch.rows(0, left) : batch
        left -= rows.length
        if (years) for (const part of rowsOfYears(batch, years)) fingerprinter?.add(part)
        await writer.write(rows)
      }
    }
    if (tally.hasFailed) return undefined
    const outputs = await writer.finish()
    isDone = true
    return { outputs, windows: { totals, contents }, fingerprint: fingerprinter?.finish() }
  } finally {
    if (!isDone) await writer.discard()
  }
}

/**
 * The rows of a series as outputs have them, resampled if that was requested. After a window that could not be read, the others are
 * only counted, as are those that were `counted` before. `learn` gets every window that was read. Each batch is valid until the next one.
 */
export async function* readSeries(
  series: PlannedSeries,
  options: Pick<Encoding, 'range' | 'partial'>,
  { source, windows, tally, counted }: Omit<EncodeContext, 'open'> & Pick<EncodeTask, 'counted'>,
  learn?: (result: WindowResult) => void,
): AsyncGenerator<KlineBatch> {
  const resampler = openResampler(series, options)
  for (const window of series.windows) {
    const known = counted?.get(window.startDate)
    if (known) {
      tally.addCounted(series.plan, window, 'cached', known)
      continue
    }
    const result = await nextWindow(windows)
    tally.add(series.plan, result)
    if (result.status === 'failed' || tally.hasFailed) continue
    learn?.(result)
    const batch = resampler ? resampler.add(result.batch) : result.batch
    if (batch) yield batch
  }
  const last = tally.hasFailed ? undefined : resampler?.end(completeUntil(source, series.plan.windows))
  if (last) yield last
}

/**
 * The same for a task whose windows are in the mirror and whose outputs are files, in any thread. Returns the reports of its series
 * too.
 */
export async function encodeFromMirror(
  source: WindowSource,
  task: EncodeTask,
  encoding: Encoding,
  signal?: AbortSignal,
): Promise<(EncodedTask & { readonly reports: readonly SeriesReport[] }) | undefined> {
  const tally = new DownloadTally(source, { range: encoding.range, series: task.series.map(({ plan }) => plan) })
  const windows = readWindows(source, windowsToRead(task), signal)
  const open = ({ place }: TaskOutput) => OutputFile.open(place as FilePlace)
  try {
    const encoded = await encodeTask(task, encoding, { source, windows, tally, open })
    return encoded && { ...encoded, reports: tally.seriesReports }
  } finally {
    await windows.return(undefined)
  }
}

function openResampler(
  { source, resampleTo, plan }: PlannedSeries,
  { range, partial }: Pick<Encoding, 'range' | 'partial'>,
) {
  return resampleTo && new Resampler(source, resampleTo, { range, partial, coveredFrom: plan.listedFrom })
}

/** The series of a task without the windows that need not be read. */
export function windowsToRead({ series, counted }: EncodeTask): readonly PlannedSeries[] {
  const isNeeded = ({ startDate }: WindowRef) => !counted?.has(startDate)
  return counted ? series.map(one => ({ ...one, windows: one.windows.filter(isNeeded) })) : series
}

/** The rows that open in some years, UTC. */
function* rowsOfYears(batch: KlineBatch, years: ReadonlySet<number> | 'all'): Generator<KlineBatch> {
  if (years === 'all') yield batch
  else {
    for (let rest = batch; rest.length > 0; ) {
      const year = new Date(rest.openTime(0)).getUTCFullYear()
      const endTime = Date.UTC(year + 1, 0)
      if (years.has(year)) yield rest.slice(-Infinity, endTime)
      rest = rest.slice(endTime, Infinity)
    }
  }
}

/** Whether all candles of a window are in the range of a series, so that its rows are all rows of its file. */
function isInside({ range }: PlannedSeries, { window }: WindowResult): boolean {
  const { startTime, endTime } = windowSpan(window)
  return startTime >= range.fromTime && endTime <= range.toTime
}

/** The content of a window's file, as its rows were read from it. Only an empty window has no file. */
function contentOf({ batch, size, file }: WindowResult): FileContent {
  const bytes = size === 0 ? new Uint8Array() : (file?.bytes ?? batch.bytes)
  return { size, sha256: sha256(bytes), version: file && settledVersion(file) }
}

/** Writes rows to the outputs of a task, one output after the other. */
class TaskWriter {
  private readonly writers: readonly (OutputWriter | undefined)[]
  private readonly finished: (FinishedOutput | undefined)[] = []

  constructor(
    private readonly task: EncodeTask,
    encoding: Encoding,
    open: EncodeContext['open'],
  ) {
    const isHashed = task.unknown !== undefined
    this.writers = task.outputs.map(output =>
      output.stays ? undefined : new OutputWriter(output, encoding, () => open(output), isHashed),
    )
  }

  /** Adds rows in order of time. */
  async write(batch: KlineBatch | undefined): Promise<void> {
    for (let rest = batch; rest && rest.length > 0; ) {
      while (rest.openTime(0) >= this.range.toTime) await this.finishNext()
      const { fromTime, toTime } = this.range
      if (rest.openTime(0) < fromTime) throw new Error('A row belongs to no output.')
      await this.writers[this.finished.length]?.write(rest.slice(-Infinity, toTime))
      rest = rest.slice(toTime, Infinity)
    }
  }

  /** Writes what is left. */
  async finish(): Promise<(FinishedOutput | undefined)[]> {
    while (this.finished.length < this.writers.length) await this.finishNext()
    return this.finished
  }

  /** Leaves all outputs as they were. Never throws. */
  async discard(): Promise<void> {
    for (const writer of this.writers) await writer?.discard()
  }

  /** The range of the output that rows go to. */
  private get range(): TimeRange {
    return this.task.outputs[this.finished.length]?.range ?? { fromTime: Infinity, toTime: Infinity }
  }

  private async finishNext(): Promise<void> {
    this.finished.push(await this.writers[this.finished.length]?.finish())
  }
}
