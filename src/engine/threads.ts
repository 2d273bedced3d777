import { once } from 'node:events'
import { availableParallelism, totalmem } from 'node:os'
import { parentPort, SHARE_ENV, Worker, workerData } from 'node:worker_threads'
import pMap from 'p-map'
import { KlinesError } from '../candles/errors.js'
import { checkValue } from '../options.js'
import { ownFile } from '../version.js'

const DEFAULT_MAX = 8
/** One takes 80 to 130 MB, and eight 214 to 326. */
const BYTES_A_THREAD = 100 * 1000 * 1000
/** With fewer windows, one thread is done about when a worker has started. */
const MIN_WINDOWS = 2_000
/** Short-lived objects of a worker, MB: V8's own limit lets each of them grow by 16 MB and more before it collects garbage. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 6 }

export interface ThreadOptions {
  /** Threads at once, 1 to 256. Default: one a core, at most 8 and one for each 100 MB of memory; 1 for fewer than 2,000 windows, or 10,000 to verify. */
  readonly threads?: number | undefined
}

export function checkThreads({ threads }: ThreadOptions): void {
  checkValue('threads', { takes: 'number', range: { min: 1, max: 256 } }, threads)
}

/** `fewest`: with fewer windows, one thread is enough. */
export function countThreads(tasks: number, windows: number, { threads }: ThreadOptions, fewest = MIN_WINDOWS): number {
  checkThreads({ threads })
  // Without a limit of its container it is 0, undefined, or more than any machine has.
  const memory = Math.min(process.constrainedMemory() || Infinity, totalmem())
  const fitting = Math.min(availableParallelism(), DEFAULT_MAX, Math.floor(memory / BYTES_A_THREAD))
  return Math.max(1, Math.min(threads ?? (windows < fewest ? 1 : fitting), tasks))
}

/** What the code of a worker thread, `src/worker.ts`, knows to do. */
type Kind = 'encode' | 'verify' | 'export'

/** Tasks of a kind, whose workers begin with `data`. */
interface Workload<Task, Result> {
  readonly kind: Kind
  readonly data: unknown
  readonly tasks: readonly Task[]
  readonly threads: number
  /** In the main thread. */
  readonly work: (task: Task) => Promise<Result>
  readonly done?: (task: Task, result: Result) => void
  readonly signal: AbortSignal
}

/**
 * Does tasks in workers and in the main thread. After a failure no other task is begun, and the first error is thrown as in the main thread
 * alone. Nothing runs any more when it settles.
 */
export async function shareTasks<Task, Result>(load: Workload<Task, Result>): Promise<Result[]> {
  const { kind, data, tasks, threads, work, done, signal } = load
  const workers = Math.max(1, Math.min(threads, tasks.length)) - 1
  const pool = new ThreadPool<Task, Result>(kind, data)
  let busy = 0
  let own: Promise<unknown> = Promise.resolve()
  const doNext = async (task: Task) => {
    if (busy === workers) {
      const result = work(task)
      own = result
      return result
    }
    busy++
    const result = await pool.run(task)
    busy--
    done?.(task, result)
    return result
  }
  try {
    return await pMap(tasks, doNext, { concurrency: workers + 1, signal })
  } finally {
    await pool.close()
    await Promise.allSettled([own])
  }
}

type ErrorFields = Pick<KlinesError, 'message' | 'code' | 'suggestions' | 'data'>

/** The outcome of a task in a worker. An error comes as its fields: a copy would lose its class. */
type Outcome<Result> = { readonly result: Result } | { readonly error: ErrorFields }

/** A worker, and a promise that rejects when it ends. */
interface Thread {
  readonly worker: Worker
  readonly ended: Promise<never>
}

/** Workers that do tasks of a kind: one for each task that is under way. They stay for the next tasks. */
export class ThreadPool<Task, Result> {
  private readonly alive = new Set<Thread>()
  private readonly idle: Thread[] = []

  constructor(
    private readonly kind: Kind,
    private readonly data: unknown,
  ) {}

  /** Throws what the task throws, and an error when its worker ends. */
  async run(task: Task): Promise<Result> {
    const thread = this.idle.pop() ?? this.start()
    try {
      return await send<Task, Result>(thread, task)
    } finally {
      if (this.alive.has(thread)) this.idle.push(thread)
    }
  }

  /** Ends all workers; tasks that are not done fail. */
  async close(): Promise<void> {
    await Promise.all([...this.alive].map(({ worker }) => worker.terminate()))
  }

  private start(): Thread {
    const workerData = { kind: this.kind, data: this.data }
    const worker = new Worker(ownFile('../dist/worker.cjs'), {
      workerData,
      env: SHARE_ENV,
      resourceLimits: RESOURCE_LIMITS,
    })
    const ended = once(worker, 'exit').then(() => Promise.reject(new Error('A worker thread ended.')))
    const thread = { worker, ended }
    this.alive.add(thread)
    // The next task reports it.
    ended.catch(() => this.alive.delete(thread))
    return thread
  }
}

async function send<Task, Result>({ worker, ended }: Thread, task: Task): Promise<Result> {
  const answered = once(worker, 'message')
  worker.postMessage(task)
  const [outcome]: Outcome<Result>[] = await Promise.race([answered, ended])
  if ('result' in outcome) return outcome.result
  const { code, message, suggestions, data } = outcome.error
  throw suggestions ? new KlinesError(code, message, { suggestions, data }) : new Error(message)
}

/** Does the tasks of `shareTasks` in a worker: each kind gets the data of the workload, and returns what does one task. */
export function runTasks(open: Record<Kind, (data: never) => (task: never) => Promise<unknown>>): void {
  const { kind, data } = workerData as Pick<Workload<unknown, unknown>, 'kind' | 'data'>
  const work = open[kind](data as never)
  parentPort?.on('message', async task => {
    try {
      parentPort?.postMessage({ result: await work(task as never) })
    } catch (error) {
      const { message, code, suggestions, data } = error as ErrorFields
      parentPort?.postMessage({ error: { message, code, suggestions, data } })
    }
  })
}
