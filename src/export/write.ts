import { type DownloadRequest, downloadPlan } from '../download/download.js'
import { joinNames } from '../download/errors.js'
import { toWarn } from '../download/events.js'
import type { Warn, WindowSource } from '../download/sources/window-source.js'
import { type DownloadReport, DownloadTally } from '../download/tally.js'
import { reportFingerprints } from '../fingerprint/fingerprint.js'
import { isKlinesError, KlinesError } from '../klines/errors.js'
import { seriesName } from '../klines/series.js'
import { ALL_TIME } from '../klines/time-range.js'
import { countThreads } from '../threads/thread-count.js'
import type { EncodeTask } from './encode.js'
import { cutToTail, type ExcerptRequest } from './excerpt.js'
import type { ExportPlan, ExportSeries, PlannedSeries, ResampleRequest } from './export-series.js'
import { commitOutputs } from './output/commit.js'
import { discardFile, type FilePlace, OutputFile, removeTemp } from './output/file.js'
import { isStream, type OpenOptions, openStream, prepareOutput } from './output/open.js'
import { removeLeftovers } from './output/temp.js'
import type { OutputSpec } from './output-spec.js'
import type { WrittenFile } from './output-writer.js'
import type { RowFormat } from './row-format.js'
import { writeTasks } from './write-tasks.js'

/** A checked export. */
export interface ExportJob {
  readonly source: WindowSource
  readonly planned: ExportPlan
  /** Their series are those of the plan. */
  readonly outputs: readonly OutputSpec<PlannedSeries>[]
  readonly rowFormat: RowFormat
}

/** How an export is written. */
export interface WriteOptions
  extends OpenOptions,
    Pick<DownloadRequest, 'concurrency' | 'failOnGaps' | 'fingerprint' | 'onEvent'>,
    Pick<ResampleRequest, 'partial'>,
    ExcerptRequest {
  /** Threads that write files at once, the main one included. Default 1. */
  readonly threads?: number | undefined
}

/** The result of an export: how its windows were downloaded or read, and its files. */
export interface ExportReport extends DownloadReport {
  readonly files: WrittenFile[]
}

/**
 * Writes all outputs while their windows come, and puts the files in place when everything is complete: a run that fails before that
 * leaves all files as they were. Throws `incomplete`, which names every window that failed, or `no_candles`.
 */
export async function writeExport(job: ExportJob, options: WriteOptions): Promise<ExportReport> {
  const { source, planned, outputs } = job
  const streams = await Promise.all(outputs.map(({ path }) => isStream(path)))
  const windows = planned.series.reduce((sum, { windows }) => sum + windows.length, 0)
  const threads = streams.includes(true) ? 1 : countThreads(outputs.length, windows, options.threads)
  // Bytes in a pipe cannot be taken back, and only the main thread makes requests.
  const isTail = options.tail !== undefined
  const downloadsFirst = streams.includes(true) || isTail || (threads > 1 && !source.info.offline)
  const report = downloadsFirst ? await downloadPlan(source, planned.plan, { ...options, forExport: true }) : undefined
  return writeOutputs(job, report, { ...options, threads: source.info.isStored ? threads : 1 })
}

/**
 * Writes the outputs of an export: from windows that were downloaded or checked before, with the `report` of that, or while they
 * come, which a `tail` cannot be. Throws like `writeExport`.
 */
export async function writeOutputs(
  { source, planned, outputs, rowFormat }: ExportJob,
  report: DownloadReport | undefined,
  options: WriteOptions,
): Promise<ExportReport> {
  const { concurrency, signal, partial, limit, tail, failOnGaps, fingerprint, threads = 1 } = options
  // Windows that were downloaded before have had their events.
  const { onEvent } = report ? {} : options
  const { range } = planned.plan
  const tally = new DownloadTally(source, planned.plan, { forExport: true, partial, failOnGaps, onEvent })
  const metadata = { range: range.text, source: source.info.baseUrl ?? 'unknown' }
  const prepared: (FilePlace | undefined)[] = []
  try {
    await removeLeftovers(outputs.map(({ path }) => path))
    for (const { path } of outputs) prepared.push(await prepareOutput(path, options))
    const tasks: EncodeTask[] = []
    for (const [index, output] of outputs.entries()) {
      const series = await cutToTail(source, output.series, { tail, partial, signal })
      tasks.push({ series, outputs: [{ ...output, range: ALL_TIME, place: prepared[index] }] })
    }
    const written = await writeTasks(
      source,
      tasks,
      { rowFormat, metadata, range, partial, limit, fingerprint },
      {
        ...{ threads, concurrency, signal, tally, isCached: source.info.offline || report !== undefined },
        open: ({ path, place }) => (place ? OutputFile.open(place) : openStream(path, options)),
        clear: index => removeTemp(prepared[index]),
      },
    )
    // A window that was downloaded before may be missing now, when another process cleared the mirror.
    const completed = report && !tally.hasFailed ? report : tally.report()
    const finished = written.flatMap(task => task?.outputs[0] ?? [])
    if (finished.length === 0) throw noWholeCandle(planned.series)
    await commitOutputs(finished.map(({ file, finished }) => ({ path: file.path, finished })))
    const files = finished.map(({ file }) => file)
    warnAbout(completed, files, toWarn(options))
    await discardAll(prepared.filter((_, index) => written[index]?.outputs[0] === undefined))
    const fingerprints = fingerprint && reportFingerprints(finished.flatMap(({ fingerprints = [] }) => fingerprints))
    return { ...completed, files, ...(fingerprints && { fingerprints }) }
  } catch (error) {
    await discardAll(prepared)
    throw outputs.length > 1 ? withOtherOutputs(error) : error
  }
}

/** The last one first: an earlier one may have made the folder above it. */
async function discardAll(prepared: readonly (FilePlace | undefined)[]): Promise<void> {
  for (const place of prepared.toReversed()) if (place) await discardFile(place)
}

/** Warns of series without candles, and of decimals that a double does not hold. */
export function warnAbout({ series }: DownloadReport, files: readonly WrittenFile[], warn: Warn): void {
  const empty = series.filter(({ candles }) => candles === 0).map(seriesName)
  if (empty.length > 0) warn(`No candles in the range: ${joinNames(empty)}.`)
  const inexact = files.filter(({ inexactDoubles }) => inexactDoubles > 0)
  if (inexact.length === 0) return
  const count = inexact.reduce((sum, { inexactDoubles }) => sum + inexactDoubles, 0)
  const names = joinNames(inexact.map(({ path }) => (path === '-' ? 'stdout' : path)))
  warn(`${names}: ${count} decimals have more digits than a double holds; \`numbers: 'decimal'\` keeps them all.`)
}

/** When the reader closes the pipe, an export ends with 0, unless others wait for files of the same export. */
function withOtherOutputs(error: unknown): unknown {
  if (!isKlinesError(error, 'output_closed')) return error
  const { message, data, cause } = error
  return new KlinesError('output_unwritable', `${message} No file is put in its place.`, { cause, data })
}

/** The error for a range that has candles, but none as long as the requested ones. */
export function noWholeCandle([{ interval, source }]: readonly ExportSeries[]): KlinesError {
  const message = `The ${source.interval} candles of the range do not cover a whole ${interval} candle; nothing is written.`
  return new KlinesError('no_candles', message, {
    suggestions: ['`partial: true` keeps candles that are covered in part.'],
  })
}
