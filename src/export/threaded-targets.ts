import type { WindowSource } from '../download/sources/window-source.js'
import { shareTasks } from '../threads/share-tasks.js'
import type { Workload } from '../threads/worker-pool.js'
import { type EncodedTarget, type EncodeOptions, encodeTarget } from './encode-target.js'
import type { ExportRun } from './export-series.js'
import type { TargetFile } from './target-file.js'
import type { Target } from './targets.js'

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
  /** Makes the file of a target. */
  readonly open: (target: Target<ExportRun>) => TargetFile
  /** Called after each target. */
  readonly done: (target: Target<ExportRun>, encoded: EncodedTarget) => void
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
): Promise<Map<Target<ExportRun>, TargetFile>> {
  const files = new Map<Target<ExportRun>, TargetFile>()
  const finished = new Map<Target<ExportRun>, TargetFile>()
  let opening = Promise.resolve()
  const write = async (target: Target<ExportRun>, bytes: Uint8Array) => {
    const file = files.get(target) ?? open(target)
    // One after the other, because they are discarded in the reverse order: one may make the folder of the next.
    if (!files.has(target)) opening = opening.then(() => file.open())
    files.set(target, file)
    await opening
    await file.write(bytes)
  }
  const finish = async (target: Target<ExportRun>, encoded: EncodedTarget) => {
    const file = files.get(target) ?? open(target)
    await file.finish(encoded.counts)
    finished.set(target, file)
    done(target, encoded)
  }
  const load: Workload<Uint8Array | EncodedTarget> = {
    module: 'export/worker.cjs',
    workers: Math.min(threads, targets.length) - 1,
    tasks: targets.length,
    data: { root: source.info.mirrorRoot, targets, options } satisfies TargetTask,
    receive: (index, sent) => (sent instanceof Uint8Array ? write(targets[index], sent) : finish(targets[index], sent)),
  }
  const work = async (index: number) => {
    const target = targets[index]
    const encoded = await encodeTarget(source, target, options, bytes => write(target, bytes), signal)
    if (encoded) await finish(target, encoded)
    return encoded !== undefined
  }
  await shareTasks(load, work, signal)
  for (const [target, file] of files) if (!finished.has(target)) await file.discard()
  return finished
}
