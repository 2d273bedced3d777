import { deserialize } from 'node:v8'
import { parentPort, workerData } from 'node:worker_threads'

/** The data that a worker starts with. */
export interface WorkerStart {
  /** For each task, the number of the thread that has claimed it; 0 for none. */
  readonly claims: Int32Array
  /** The number of this thread. */
  readonly thread: number
  readonly data: unknown
  /** The tasks, serialized into memory that all workers share: each reads only those that it has claimed. */
  readonly tasks: readonly Uint8Array[]
}

/** A message of a worker: the result of a task, undefined when it failed. */
export interface WorkerMessage<Result> {
  readonly task: number
  readonly result: Result | undefined
}

/** Claims a task; returns false when another thread has claimed it. */
export function claim(claims: Int32Array, task: number, thread: number): boolean {
  return Atomics.compareExchange(claims, task, 0, thread) === 0
}

/**
 * Does the tasks of a `WorkerPool` in a worker until all are claimed. `open` gets the data of the workload and returns what
 * does one task; a task that throws or returns nothing is left to the main thread.
 */
export async function runTasks<Data, Task, Result>(
  open: (data: Data) => (task: Task) => Promise<Result | undefined>,
): Promise<void> {
  if (parentPort === null) throw new Error('This module runs in a worker thread.')
  const { claims, thread, data, tasks } = workerData as WorkerStart
  const work = open(data as Data)
  for (const [task, bytes] of tasks.entries()) {
    if (!claim(claims, task, thread)) continue
    const result = await work(deserialize(bytes) as Task).catch(() => undefined)
    parentPort.postMessage({ task, result } satisfies WorkerMessage<Result>)
  }
}
