import { serialize } from 'node:v8'
import { SHARE_ENV, Worker } from 'node:worker_threads'
import { CODE_URL } from '../version.js'
import { claim, type WorkerMessage, type WorkerStart } from './tasks.js'

/** The number of the main thread among those that claim tasks; workers have higher ones. */
const MAIN_THREAD = 1

/** Short-lived objects of a worker, MB: V8's own limit lets each of them grow by 16 MB and more before it collects garbage. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 6 }

/** What the threads of a `WorkerPool` do. */
interface Workload {
  /** The module that a worker runs, relative to the code. It calls `runTasks`. */
  readonly module: string
  /** Number of workers, beside the main thread. */
  readonly workers: number
  /** What each worker starts with, as a copy. */
  readonly data: unknown
  /** Who claims one gets a copy of it. */
  readonly tasks: readonly unknown[]
}

/**
 * Worker threads that share tasks with the main thread: who claims a task does it. A task that fails in a worker, or whose
 * worker ends, has no result, and the workers begin no other: the main thread does it again, so it alone reports errors.
 */
export class WorkerPool<Result> {
  private readonly claims: Int32Array
  private readonly workers: Worker[] = []
  private readonly exits: Promise<void>[] = []
  private readonly results: Promise<Result | undefined>[] = []
  private readonly resolvers: ((result: Result | undefined) => void)[] = []

  /** `done` is called with each result of a worker as it comes. */
  constructor(
    private readonly load: Workload,
    private readonly done: (task: number, result: Result) => void = () => {},
  ) {
    this.claims = new Int32Array(new SharedArrayBuffer(4 * load.tasks.length))
    for (const _ of load.tasks) this.results.push(new Promise(resolve => this.resolvers.push(resolve)))
    if (load.workers > 0) this.start()
  }

  /** Claims a task for the main thread; returns false when a worker has it. */
  claim(task: number): boolean {
    return claim(this.claims, task, MAIN_THREAD)
  }

  /** Leaves all tasks that no worker has claimed to the main thread. */
  claimRest(): void {
    for (const task of this.load.tasks.keys()) this.claim(task)
  }

  /** Waits for the result of a claimed task; undefined when no worker has one. */
  async result(task: number): Promise<Result | undefined> {
    return this.claims[task] === MAIN_THREAD ? undefined : this.results[task]
  }

  /** Ends all workers. None runs when it resolves. */
  async stop(): Promise<void> {
    for (const worker of this.workers) void worker.terminate()
    await Promise.all(this.exits)
  }

  private start(): void {
    const { load, claims } = this
    const module = new URL(load.module, CODE_URL)
    try {
      const tasks = share(load.tasks)
      while (this.workers.length < load.workers) {
        const thread = MAIN_THREAD + 1 + this.workers.length
        const workerData: WorkerStart = { claims, thread, data: load.data, tasks }
        const worker = new Worker(module, { workerData, env: SHARE_ENV, resourceLimits: RESOURCE_LIMITS })
        this.workers.push(worker)
        this.exits.push(this.listen(worker, thread))
      }
    } catch {
      // The system may refuse more threads; the others then do the work.
    }
  }

  /** Resolves when the worker has ended. */
  private async listen(worker: Worker, thread: number): Promise<void> {
    worker.on('message', ({ task, result }: WorkerMessage<Result>) => {
      this.settle(task, result === undefined || this.isDone(task, result) ? result : undefined)
    })
    // The main thread repeats the task of a failed worker, and reports the error if it fails again.
    worker.on('error', () => {})
    await new Promise(resolve => worker.once('exit', resolve))
    for (const [task, claimed] of this.claims.entries()) if (claimed === thread) this.settle(task, undefined)
  }

  /** Passes a result on. What throws there is a failure of the task, which the main thread meets again. */
  private isDone(task: number, result: Result): boolean {
    try {
      this.done(task, result)
      return true
    } catch {
      return false
    }
  }

  private settle(task: number, result: Result | undefined): void {
    if (result === undefined) this.claimRest()
    this.resolvers[task](result)
  }
}

/** Serializes tasks into one memory: with a memory for each of 10,000 tasks, a worker takes seconds to start. */
function share(tasks: readonly unknown[]): Uint8Array[] {
  const serialized = tasks.map(task => serialize(task))
  const memory = new SharedArrayBuffer(serialized.reduce((sum, { length }) => sum + length, 0))
  let end = 0
  return serialized.map(bytes => {
    const shared = new Uint8Array(memory, end, bytes.length)
    shared.set(bytes)
    end += bytes.length
    return shared
  })
}

/** How the main thread does its part. */
interface ShareOptions<Result> {
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
    for (let task = load.tasks.length - 1; task >= 0; task--) {
      if (!pool.claim(task)) continue
      const result = await work(task)
      if (result === undefined) break
      done(task, result)
    }
  } catch {
    // The caller meets it again.
  }
  pool.claimRest()
  for (const task of load.tasks.keys()) await pool.result(task)
  await stop()
  signal?.removeEventListener('abort', stop)
  signal?.throwIfAborted()
}
