import { WorkerPool, type Workload } from './worker-pool.js'

/** How the main thread does its part. */
export interface ShareOptions<Result> {
  /** Does a task; one without a result is left to the caller. */
  readonly work: (task: number) => Promise<Result | undefined>
  /** Called with each result as it comes. */
  readonly done: (task: number, result: Result) => void
  readonly signal: AbortSignal | undefined
}

/**
 * Does the tasks of a workload in its workers and, from the last one on, in the main thread. After a failure no task is begun any
 * more: the caller does the rest one after the other, and so meets the error again, in its place. No worker runs any more when it
 * resolves. Throws when the signal aborts.
 */
export async function shareTasks<Result>(load: Workload, { work, done, signal }: ShareOptions<Result>): Promise<void> {
  signal?.throwIfAborted()
  const pool = new WorkerPool<Result>(load, done)
  const stop = () => pool.stop()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    // The workers start at the other end.
    for (let task = load.tasks - 1; task >= 0; task--) {
      if (!pool.claim(task)) continue
      const result = await work(task)
      if (result === undefined) break
      done(task, result)
    }
  } catch {
    // The caller meets it again.
  }
  pool.claimRest()
  for (let task = 0; task < load.tasks; task++) await pool.result(task)
  await stop()
  signal?.removeEventListener('abort', stop)
  signal?.throwIfAborted()
}
