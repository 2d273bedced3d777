import { downloadSeries } from '../download/download.js'
import { type DownloadReport, DownloadTally } from '../download/tally.js'
import { type FilePlace, OutputFile } from '../export/output/file.js'
import { writeTasks } from '../export/write-tasks.js'
import { countThreads } from '../threads/thread-count.js'
import type { LakeJob, UpdateOptions } from './job.js'
import { type PartOptions, SeriesParts } from './parts/series-parts.js'
import type { SeriesState } from './parts/series-state.js'

/**
 * Writes the parts of the series that have changed beside their places, and adds them to `written`. Without a report of the
 * download, it reads the windows of the others too, as far as they are not counted in the manifest. Throws `incomplete` when a
 * window is missing or corrupt, and `no_candles`.
 */
export async function writeChanged(
  states: readonly SeriesState[],
  job: LakeJob,
  options: UpdateOptions,
  place: Pick<PartOptions, 'root' | 'partFile'>,
  written: Map<SeriesState, SeriesParts>,
): Promise<DownloadReport> {
  const { source, plan, report, rowFormat, range, windows } = job
  const { partition, partial } = job.options
  const { signal, moves, failOnGaps } = options
  const changed = states.filter(state => moves || !state.isComplete)
  const { planned, progress } = report ? {} : options
  const tally = new DownloadTally(source, plan, { forExport: true, partial, failOnGaps, planned, progress })
  if (report === undefined) {
    const unchanged = states.filter(state => !changed.includes(state)).map(({ planned }) => planned.plan)
    await downloadSeries(source, unchanged, tally, { signal, findCounted: window => windows.counted(window) })
  }
  const parts: SeriesParts[] = []
  for (const state of changed) {
    const series = await SeriesParts.prepare(state, { ...place, partition, range, moves })
    written.set(state, series)
    parts.push(series)
  }
  const count = changed.reduce((sum, { planned }) => sum + planned.windows.length, 0)
  const threads = source.info.isStored ? countThreads(parts.length, count, options.threads) : 1
  const metadata = { range: job.options.range, source: source.info.baseUrl ?? 'unknown' }
  const tasks = parts.map(({ task }) => task)
  const encoded = await writeTasks(
    source,
    tasks,
    { rowFormat, metadata, range, partial },
    {
      ...{ threads, signal, tally, isCached: true },
      open: ({ place }) => OutputFile.open(place as FilePlace),
      clear: index => parts[index].clear(),
    },
  )
  for (const [index, task] of encoded.entries()) if (task) parts[index].finish(task)
  // A window that was downloaded before may be missing now, when another process cleared the mirror.
  return report && !tally.hasFailed ? report : tally.report()
}
