import { WorkerPool, type Workload } from './worker-pool.js'

/**
 * Does the tasks of a workload in its workers and, from the last one on, in the main thread by `work`, which returns whether a task
 * is done. After a failure no task is begun any more: the caller does the rest one after the other, and so meets the error again, in
 * its place. Nothing is received any more when it resolves. Throws when the signal aborts.
 */
export async function shareTasks<Sent>(
  load: Workload<Sent>,
  work: (task: number) => Promise<boolean>,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted()
  const pool = new WorkerPool<true, Sent>(load)
  const stop = () => pool.stop()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    // The workers start at the other end.
    for (let task = load.tasks - 1; task >= 0; task--) if (pool.claim(task) && !(await work(task))) break
  } catch {
    // The caller meets it again.
  }
  pool.claimRest()
  for (let task = 0; task < load.tasks; task++) await pool.result(task)
  await stop()
  signal?.removeEventListener('abort', stop)
  signal?.throwIfAborted()
}
