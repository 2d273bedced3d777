import { completeUntil } from '../download/complete-until.js'
import type { WindowSource } from '../download/sources/window-source.js'
import type { DownloadTally } from '../download/tally.js'
import type { StreamedWindow } from '../download/window-stream.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { Resampler } from '../klines/resample/resampler.js'
import type { TimeRange } from '../klines/time-range.js'
import type { ExportRun } from './export-series.js'

/** Where the windows of a series come from and go to. */
export interface SeriesFlow {
  /** Where the windows come from. */
  readonly source: WindowSource
  readonly windows: AsyncGenerator<StreamedWindow<ExportRun>, undefined, undefined>
  readonly tally: DownloadTally
  readonly writer: { write(batch: KlineBatch): Promise<void> }
  /** Open times of the rows to write, ms UTC. */
  readonly range: TimeRange
  readonly partial: boolean | undefined
}

/** Writes the next windows, those of one series. After a failure they are only downloaded, for the next run. */
export async function writeSeries(
  run: ExportRun,
  { source, windows, tally, writer, range, partial }: SeriesFlow,
): Promise<void> {
  const { target, plan } = run
  const resampler = target && new Resampler(run.source, target, { range, partial, coveredFrom: plan.listedFrom })
  for (let count = 0; count < run.windows.length; count++) {
    const { value } = await windows.next()
    if (!value) return
    tally.add(plan, value.result)
    if (value.result.status === 'failed' || tally.hasFailed) continue
    const batch = resampler ? resampler.add(value.result.batch) : value.result.batch
    if (batch) await writer.write(batch)
  }
  const rest = tally.hasFailed ? undefined : resampler?.end(completeUntil(source, run.windows))
  if (rest) await writer.write(rest)
}
