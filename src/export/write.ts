import { type DownloadRequest, downloadPlan } from '../download/download.js'
import { joinNames } from '../download/errors.js'
import type { WindowSource } from '../download/sources/window-source.js'
import { type DownloadReport, DownloadTally } from '../download/tally.js'
import { streamWindows } from '../download/window-stream.js'
import { isKlinesError, KlinesError } from '../klines/errors.js'
import { seriesName } from '../klines/series.js'
import { formatRange, type TimeRange } from '../klines/time-range.js'
import { countThreads } from '../threads/thread-count.js'
import type { EncodedTarget } from './encode-target.js'
import {
  type ExportPlan,
  type ExportRun,
  type ExportSeries,
  planExport,
  type ResampleRequest,
} from './export-series.js'
import { isStream, type OpenOptions } from './output/open.js'
import type { RowFormat } from './row-format.js'
import { TargetFile, type WrittenFile } from './target-file.js'
import { TargetWriter } from './target-writer.js'
import type { Target } from './targets.js'
import { writeThreaded } from './threaded-targets.js'
import { writeSeries } from './write-series.js'

/** A checked export. */
export interface ExportJob {
  readonly source: WindowSource
  readonly series: readonly ExportSeries[]
  readonly targets: readonly Target<ExportSeries>[]
  readonly rowFormat: RowFormat
  /** Open times of the rows to write, ms UTC. */
  readonly range: TimeRange
}

/** How an export is written. */
export interface WriteOptions
  extends OpenOptions,
    Pick<DownloadRequest, 'concurrency' | 'planned' | 'progress' | 'warn'>,
    Pick<ResampleRequest, 'partial'> {
  /** Threads that write files at once, the main one included. Default 1. */
  readonly threads?: number | undefined
}

/** The result of an export: how its windows were downloaded or read, and its files. */
export interface ExportReport extends DownloadReport {
  readonly files: WrittenFile[]
}

/**
 * Writes all targets while their windows come, and puts the files in place when everything is complete: a run that fails leaves
 * all files as they were. Throws `incomplete`, which names every window that failed, or `no_candles`.
 */
export async function writeTargets(job: ExportJob, options: WriteOptions): Promise<ExportReport> {
  const streams = await Promise.all(job.targets.map(({ path }) => isStream(path)))
  const planned = await planExport(job.source, job.series, job.range)
  const { source } = job
  const windows = [...planned.runs.values()].reduce((sum, { windows }) => sum + windows.length, 0)
  const threads = streams.includes(true) ? 1 : countThreads(job.targets.length, windows, options.threads)
  // Bytes in a pipe cannot be taken back, a series that several others are made from must not be downloaded twice, and only
  // the main thread makes requests.
  const downloadsFirst =
    streams.includes(true) || planned.plan.series.length < job.series.length || (threads > 1 && !source.info.offline)
  const report = downloadsFirst ? await downloadPlan(source, planned.plan, { ...options, forExport: true }) : undefined
  return writePlanned(job, planned, report, { ...options, threads: source.info.isStored ? threads : 1 })
}

/**
 * Writes the targets of a plan: from windows that were downloaded or checked before, with the `report` of that, or while they
 * come. Throws like `writeTargets`.
 */
export async function writePlanned(
  job: ExportJob,
  { plan, runs }: ExportPlan,
  report: DownloadReport | undefined,
  options: WriteOptions,
): Promise<ExportReport> {
  const { source, rowFormat, range } = job
  const { concurrency, signal, partial, threads = 1 } = options
  const { planned, progress } = report ? {} : options
  const tally = new DownloadTally(source, plan, { forExport: true, planned, progress })
  const metadata = { range: formatRange(range), source: source.info.baseUrl ?? 'unknown' }
  const targets = job.targets.map(target => {
    return { ...target, series: target.series.map(series => runs.get(series) as ExportRun) }
  })
  const opened: TargetFile[] = []
  const open = (target: Target<ExportRun>) => {
    const file = new TargetFile(target, { ...options, compression: rowFormat.compression })
    opened.push(file)
    return file
  }
  const done = ({ series }: Target<ExportRun>, encoded: EncodedTarget) => {
    if (report) return
    for (const [index, { plan }] of series.entries()) tally.addSeries(plan, encoded.series[index])
  }
  try {
    const encoding = { rowFormat, metadata, range, partial }
    const written =
      threads > 1
        ? await writeThreaded(source, targets, encoding, { threads, signal, open, done })
        : new Map<Target<ExportRun>, TargetFile>()
    const rest = targets.filter(target => !written.has(target))
    const windows = streamWindows(
      source,
      rest.flatMap(({ series }) => series),
      { concurrency, signal, borrow: source.info.offline || report !== undefined },
    )
    try {
      for (const target of rest) {
        const file = open(target)
        written.set(target, file)
        const writer = new TargetWriter(target, { rowFormat, metadata }, file)
        try {
          for (const run of target.series) await writeSeries(run, { source, windows, tally, writer, range, partial })
          if (!tally.hasFailed) await writer.finish()
        } finally {
          writer.abort()
        }
      }
    } finally {
      await windows.return(undefined)
    }
    // A window that was downloaded before may be missing now, when another process cleared the mirror.
    const completed = report && !tally.hasFailed ? report : tally.report()
    const files = await TargetFile.commit(targets.map(target => written.get(target) as TargetFile))
    if (files.length === 0) throw noWholeCandle(job.series)
    warnAbout(completed, files, options.warn)
    return { ...completed, files }
  } catch (error) {
    // The last one first: an earlier one may have made the folder above it.
    for (const file of opened.toReversed()) await file.discard()
    throw targets.length > 1 ? withOtherTargets(error) : error
  }
}

/** Warns of series without candles, and of decimals that a double does not hold. */
export function warnAbout({ series }: DownloadReport, files: readonly WrittenFile[], warn: WriteOptions['warn']): void {
  const empty = series.filter(({ rows }) => rows === 0).map(seriesName)
  if (empty.length > 0) warn?.(`No candles in the range: ${joinNames(empty)}.`)
  const inexact = files.filter(({ inexactDoubles }) => inexactDoubles > 0)
  if (inexact.length === 0) return
  const count = inexact.reduce((sum, { inexactDoubles }) => sum + inexactDoubles, 0)
  const names = joinNames(inexact.map(({ path }) => (path === '-' ? 'stdout' : path)))
  warn?.(`${names}: ${count} decimals have more digits than a double holds; \`numbers: 'decimal'\` keeps them all.`)
}

/** When the reader closes the pipe, an export ends with 0, unless others wait for files of the same export. */
function withOtherTargets(error: unknown): unknown {
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
