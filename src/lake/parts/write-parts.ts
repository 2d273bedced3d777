import type { WindowSource } from '../../download/sources/window-source.js'
import type { DownloadTally } from '../../download/tally.js'
import { shareTasks } from '../../threads/share-tasks.js'
import type { Workload } from '../../threads/worker-pool.js'
import { encodeAlone, encodeSeries, type SeriesEncoding, type SeriesMessage, type SeriesTask } from './encode-series.js'
import type { SeriesWriter } from './series-writer.js'

/** What a worker encodes. */
export interface SeriesTasks {
  /** The root of the mirror. */
  readonly root: string
  readonly tasks: readonly SeriesTask[]
  readonly encoding: SeriesEncoding
}

/** How the parts of series are written. */
export interface WriteOptions {
  /** Threads that work at once, the main one included. */
  readonly threads: number
  readonly signal?: AbortSignal | undefined
  /** Counts the windows. */
  readonly tally: DownloadTally
  /** Makes the writer of a series. */
  readonly open: (task: number) => SeriesWriter
}

/**
 * Writes the parts of all series beside their places, several series at once. Whatever fails in a worker is done again in the main
 * thread, one series after the other, which throws the error; the tally has windows that are missing or corrupt.
 */
export async function writeParts(
  source: WindowSource,
  tasks: readonly SeriesTask[],
  encoding: SeriesEncoding,
  { threads, signal, tally, open }: WriteOptions,
): Promise<void> {
  const done =
    threads > 1 ? await writeThreaded(source, tasks, encoding, { threads, signal, tally, open }) : new Set<number>()
  for (const [index, task] of tasks.entries()) {
    if (done.has(index)) continue
    const writer = open(index)
    writer.read = await encodeSeries(source, task, encoding, tally, message => writer.write(message), signal)
  }
}

/** Returns the numbers of the series that are complete. */
async function writeThreaded(
  source: WindowSource,
  tasks: readonly SeriesTask[],
  encoding: SeriesEncoding,
  { threads, signal, tally, open }: WriteOptions,
): Promise<Set<number>> {
  const done = new Set<number>()
  const writers = new Map<number, SeriesWriter>()
  const receive = async (index: number, message: SeriesMessage) => {
    const writer = writers.get(index) ?? open(index)
    writers.set(index, writer)
    if (!('read' in message)) return writer.write(message)
    writer.read = message.read
    tally.addSeries(tasks[index].run.plan, message.report)
    done.add(index)
  }
  const load: Workload<SeriesMessage> = {
    module: 'lake/worker.cjs',
    workers: threads - 1,
    tasks: tasks.length,
    data: { root: source.info.mirrorRoot, tasks, encoding } satisfies SeriesTasks,
    receive,
  }
  const work = (index: number) =>
    encodeAlone(source, tasks[index], encoding, message => receive(index, message), signal)
  await shareTasks(load, work, signal)
  for (const [index, writer] of writers) if (!done.has(index)) await writer.discard()
  return done
}
