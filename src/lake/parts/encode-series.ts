import { completeUntil } from '../../download/complete-until.js'
import type { WindowResult, WindowSource } from '../../download/sources/window-source.js'
import { DownloadTally, type SeriesReport } from '../../download/tally.js'
import { streamWindows } from '../../download/window-stream.js'
import type { ExportRun } from '../../export/export-series.js'
import { countCandles } from '../../klines/audit/gap-counter.js'
import { Resampler } from '../../klines/resample/resampler.js'
import type { TimeRange } from '../../klines/time-range.js'
import { windowSpan } from '../../klines/windows.js'
import { PartEncoder, type PartEncoding, type PartMessage } from './part-encoder.js'
import { type PackedTotals, packTotals, readContent, type WindowContent } from './window-content.js'

/** A series whose parts are to be written. */
export interface SeriesTask {
  readonly run: ExportRun
  /** Of each part whose windows are unchanged, by its folder, the startDates of its windows. */
  readonly current: ReadonlyMap<string, readonly string[]>
  /** The startDates of the windows whose content is to be found out. */
  readonly unknown: ReadonlySet<string>
}

/** How all series of a lake are encoded. */
export interface SeriesEncoding extends PartEncoding {
  /** Open times of the rows to write, ms UTC. */
  readonly range: TimeRange
  readonly partial: boolean
}

/** What was learned about the windows of a series while they were read. */
export interface ReadWindows {
  /** Of the windows that lie in the range as a whole, by startDate. */
  readonly totals: ReadonlyMap<string, PackedTotals>
  /** Of the unknown windows, by startDate. */
  readonly contents: ReadonlyMap<string, WindowContent>
}

/** A series all of whose parts were encoded. */
export interface EncodedSeries {
  readonly read: ReadWindows
  readonly report: SeriesReport
}

/** What comes of a series: its parts, one after the other, and at last what was read. */
export type SeriesMessage = PartMessage | EncodedSeries

/**
 * Reads the windows of a series, which are cached, counts them in the tally, and passes its parts to `emit`. After a failure they
 * are only counted, and it returns undefined. Throws what the exporter, `emit` and the signal throw.
 */
export async function encodeSeries(
  source: WindowSource,
  { run, current, unknown }: SeriesTask,
  { range, partial, ...encoding }: SeriesEncoding,
  tally: DownloadTally,
  emit: (message: PartMessage) => Promise<void>,
  signal?: AbortSignal,
): Promise<ReadWindows | undefined> {
  const coveredFrom = run.plan.listedFrom
  const resampler = run.target && new Resampler(run.source, run.target, { range, partial, coveredFrom })
  const parts = new PartEncoder(run, current, encoding, emit)
  const totals = new Map<string, PackedTotals>()
  const contents = new Map<string, WindowContent>()
  try {
    for await (const { result } of streamWindows(source, [run], { signal, borrow: true })) {
      tally.add(run.plan, result)
      if (result.status === 'failed' || tally.hasFailed) continue
      const { startDate } = result.window
      if (isInside(run, result)) totals.set(startDate, packTotals(countCandles(run.source, result.batch)))
      if (unknown.has(startDate)) contents.set(startDate, readContent(result))
      await parts.write(resampler ? resampler.add(result.batch) : result.batch)
    }
    if (tally.hasFailed) return undefined
    await parts.write(resampler?.end(completeUntil(source, run.windows)))
    await parts.end()
  } finally {
    parts.abort()
  }
  return { totals, contents }
}

/** The same with a tally of its own, in any thread. Returns whether the series is complete. */
export async function encodeAlone(
  source: WindowSource,
  task: SeriesTask,
  encoding: SeriesEncoding,
  emit: (message: SeriesMessage) => Promise<void>,
  signal?: AbortSignal,
): Promise<boolean> {
  const tally = new DownloadTally(source, { range: encoding.range, series: [task.run.plan] })
  const read = await encodeSeries(source, task, encoding, tally, emit, signal)
  const [report] = tally.seriesReports
  if (read) await emit({ read, report })
  return read !== undefined
}

/** Whether all candles of a window are in the range of a run, so that its rows are all rows of its file. */
function isInside({ range }: ExportRun, { window }: WindowResult): boolean {
  const { startTime, endTime } = windowSpan(window)
  return startTime >= range.fromTime && endTime <= range.toTime
}
