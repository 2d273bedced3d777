import type { SourceOptions } from '../download/sources/source-options.js'
import type { WindowSource } from '../download/sources/window-source.js'
import { readWindows, streamWindows } from '../download/window-stream.js'
import { shareTasks } from '../threads/worker-pool.js'
import {
  type EncodeContext,
  type EncodedTask,
  type EncodeTask,
  type Encoding,
  encodeFromMirror,
  encodeTask,
  windowsToRead,
} from './encode.js'

/** What a worker starts with. */
export interface WorkerScope {
  /** The root of the mirror. */
  readonly root: string
  readonly encoding: Encoding
}

/** How tasks are shared and counted. */
export interface WriteTasksOptions
  extends Pick<SourceOptions, 'concurrency' | 'signal'>,
    Pick<EncodeContext, 'open' | 'tally'> {
  /** Whether no window needs a request. */
  readonly isCached: boolean
  /** Threads that work at once, the main one included. More than one for windows that are in the mirror, and files. */
  readonly threads: number
  /** Removes what a thread that has ended may have left of a task. */
  readonly clear: (task: number) => Promise<void>
}

/**
 * Writes the outputs of all tasks, several tasks at once; nothing is in its place then. What fails in a worker is done again in the
 * main thread, one task after the other, which throws the error; after a window that cannot be read, the tally has failed, and the
 * tasks from that one on have no result. Throws what `encodeTask` throws.
 */
export async function writeTasks(
  source: WindowSource,
  tasks: readonly EncodeTask[],
  encoding: Encoding,
  { threads, isCached, tally, clear, open, ...stream }: WriteTasksOptions,
): Promise<(EncodedTask | undefined)[]> {
  const encoded: (EncodedTask | undefined)[] = tasks.map(() => undefined)
  if (threads > 1) {
    const workload = {
      module: 'export/worker.cjs',
      workers: threads - 1,
      data: { root: source.info.mirrorRoot, encoding } satisfies WorkerScope,
      tasks,
    }
    await shareTasks(workload, {
      work: index => encodeFromMirror(source, tasks[index], encoding, stream.signal),
      done: (index, { reports, ...task }) => {
        for (const [position, { plan }] of tasks[index].series.entries()) tally.addSeries(plan, reports[position])
        encoded[index] = task
      },
      signal: stream.signal,
    })
  }
  const rest = tasks.filter((_, index) => encoded[index] === undefined)
  const series = rest.flatMap(windowsToRead)
  const windows = isCached ? readWindows(source, series, stream.signal) : streamWindows(source, series, stream)
  try {
    for (const [index, task] of tasks.entries()) {
      if (encoded[index]) continue
      await clear(index)
      encoded[index] = await encodeTask(task, encoding, { source, windows, tally, open })
    }
  } finally {
    await windows.return(undefined)
  }
  return encoded
}
