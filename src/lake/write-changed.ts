import { downloadSeries } from '../download/download.js'
import { type DownloadReport, DownloadTally } from '../download/tally.js'
import { countThreads } from '../threads/thread-count.js'
import type { LakeJob, UpdateOptions } from './job.js'
import type { PartOptions } from './parts/part-writer.js'
import type { SeriesState } from './parts/series-state.js'
import { SeriesWriter } from './parts/series-writer.js'
import { writeParts } from './parts/write-parts.js'

/**
 * Writes the parts of the series that have changed beside their places, and adds their writers to `writers`. Without a report of
 * the download, it reads the windows of the others too, as far as they are not counted in the manifest. Throws `incomplete` when a
 * window is missing or corrupt, and `no_candles`.
 */
export async function writeChanged(
  states: readonly SeriesState[],
  job: LakeJob,
  options: UpdateOptions,
  place: Pick<PartOptions, 'root' | 'partFile'>,
  writers: Map<SeriesState, SeriesWriter>,
): Promise<DownloadReport> {
  const { source, plan, report, rowFormat, range, windows } = job
  const { partition, partial } = job.options
  const { signal, moves } = options
  const changed = states.filter(state => moves || !state.isComplete)
  const { planned, progress } = report ? {} : options
  const tally = new DownloadTally(source, plan, { forExport: true, planned, progress })
  if (report === undefined) {
    const unchanged = states.filter(state => !changed.includes(state)).map(({ run }) => run.plan)
    await downloadSeries(source, unchanged, tally, { signal, findCounted: window => windows.counted(window) })
  }
  const tasks = changed.map(state => state.task(moves))
  const count = tasks.reduce((sum, { run }) => sum + run.windows.length, 0)
  const threads = source.info.isStored ? countThreads(tasks.length, count, options.threads) : 1
  const metadata = { range: job.options.range, source: source.info.baseUrl ?? 'unknown' }
  const open = (task: number) => {
    const writer = new SeriesWriter(changed[task], { ...place, compression: rowFormat.compression })
    writers.set(changed[task], writer)
    return writer
  }
  const encoding = { rowFormat, metadata, range, partial, partition }
  await writeParts(source, tasks, encoding, { threads, signal, tally, open })
  // A window that was downloaded before may be missing now, when another process cleared the mirror.
  return report && !tally.hasFailed ? report : tally.report()
}
