import type { WindowSource } from '../download/sources/window-source.js'
import { DownloadTally, type SeriesReport } from '../download/tally.js'
import { streamWindows } from '../download/window-stream.js'
import type { TimeRange } from '../klines/time-range.js'
import type { ExportRun } from './export-series.js'
import { type EncoderOptions, type TargetCounts, TargetEncoder } from './target-encoder.js'
import type { Target } from './targets.js'
import { writeSeries } from './write-series.js'

/** How all targets of an export are encoded. */
export interface EncodeOptions extends EncoderOptions {
  /** Open times of the rows to write, ms UTC. */
  readonly range: TimeRange
  readonly partial: boolean | undefined
}

/** What was read and written for a target. */
export interface EncodedTarget {
  readonly counts: TargetCounts
  /** The reports of its series, in order. */
  readonly series: readonly SeriesReport[]
}

/**
 * Reads the windows of a target, which are in the mirror, and passes the bytes of its file to `emit`, in any thread. Returns
 * undefined when a window is missing or corrupt. Throws what the exporter, `emit` and the signal throw.
 */
export async function encodeTarget(
  source: WindowSource,
  target: Target<ExportRun>,
  { range, partial, ...options }: EncodeOptions,
  emit: (bytes: Uint8Array) => Promise<void>,
  signal?: AbortSignal,
): Promise<EncodedTarget | undefined> {
  const tally = new DownloadTally(source, { range, series: target.series.map(({ plan }) => plan) })
  const encoder = new TargetEncoder(target, options, emit)
  const windows = streamWindows(source, target.series, { signal, borrow: true })
  try {
    for (const run of target.series) await writeSeries(run, { source, windows, tally, writer: encoder, range, partial })
    if (tally.hasFailed) return undefined
    await encoder.end()
    return { counts: encoder.counts, series: tally.seriesReports }
  } finally {
    encoder.abort()
    await windows.return(undefined)
  }
}
