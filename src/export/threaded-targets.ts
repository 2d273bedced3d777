import type { WindowSource } from '../download/sources/window-source.js'
import { shareTasks } from '../threads/share-tasks.js'
import type { Workload } from '../threads/worker-pool.js'
import { type EncodedTarget, type EncodeOptions, encodeTarget } from './encode-target.js'
import type { ExportRun } from './export-series.js'
import type { TargetWriter } from './target-writer.js'
import type { Target } from './targets.js'

/** Fewer windows are written in the time that a worker takes to start. */
const MIN_WINDOWS = 2_000

/** What a worker encodes. */
export interface TargetTask {
  /** The root of the mirror. */
  readonly root: string
  readonly targets: readonly Target<ExportRun>[]
  readonly options: EncodeOptions
}

/** How targets are written whose windows are files of the mirror. */
export interface ThreadedOptions {
  /** Threads that work at once, the main one included. */
  readonly threads: number
  readonly signal?: AbortSignal | undefined
  /** Makes the writer of a target. */
  readonly open: (target: Target<ExportRun>) => TargetWriter
  /** Called after each target. */
  readonly done: (target: Target<ExportRun>, encoded: EncodedTarget) => void
}

/** How many of the `threads` are worth their start, for tasks that read this many windows together. */
export function countThreads(tasks: number, windows: number, threads = 1): number {
  return windows < MIN_WINDOWS ? 1 : Math.min(threads, tasks)
}

/**
 * Writes targets in several threads at once and returns the finished ones. After a failure no target is begun any more: the
 * caller writes the others one after the other, and so meets the error again, in its place. Throws when the signal aborts.
 */
export async function writeThreaded(
  source: WindowSource,
  targets: readonly Target<ExportRun>[],
  options: EncodeOptions,
  { threads, signal, open, done }: ThreadedOptions,
): Promise<Map<Target<ExportRun>, TargetWriter>> {
  const writers = new Map<Target<ExportRun>, TargetWriter>()
  const finished = new Map<Target<ExportRun>, TargetWriter>()
  let opening = Promise.resolve()
  const write = async (target: Target<ExportRun>, bytes: Uint8Array) => {
    const writer = writers.get(target) ?? open(target)
    // One after the other, because they are discarded in the reverse order: one may make the folder of the next.
    if (!writers.has(target)) opening = opening.then(() => writer.open())
    writers.set(target, writer)
    await opening
    await writer.writeBytes(bytes)
  }
  const finish = async (target: Target<ExportRun>, encoded: EncodedTarget) => {
    const writer = writers.get(target) ?? open(target)
    await writer.finishBytes(encoded.counts)
    finished.set(target, writer)
    done(target, encoded)
  }
  const load: Workload<Uint8Array | EncodedTarget> = {
    module: 'export/worker.cjs',
    workers: Math.min(threads, targets.length) - 1,
    tasks: targets.length,
    data: { root: source.mirrorRoot, targets, options } satisfies TargetTask,
    receive: (index, sent) => (sent instanceof Uint8Array ? write(targets[index], sent) : finish(targets[index], sent)),
  }
  const work = async (index: number) => {
    const target = targets[index]
    const encoded = await encodeTarget(source, target, options, bytes => write(target, bytes), signal)
    if (encoded) await finish(target, encoded)
    return encoded !== undefined
  }
  await shareTasks(load, work, signal)
  for (const [target, writer] of writers) if (!finished.has(target)) await writer.discard()
  return finished
}
