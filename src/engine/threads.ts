import { availableParallelism, totalmem } from 'node:os'
import { parentPort, SHARE_ENV, Worker, workerData } from 'node:worker_threads'
import { KlinesError } from '../candles/errors.js'
import { CODE_URL } from '../version.js'

/** More threads are used only when the user says so. */
const DEFAULT_MAX = 8
const MAX_THREADS = 256
/** Memory for each of the threads of a default, bytes: one takes 80 to 130 MB, and eight 214 to 326, by what they do. */
const BYTES_A_THREAD = 100 * 1000 * 1000
/** With fewer windows, one thread is done about when a worker has started. */
const MIN_WINDOWS = 2_000
/** Short-lived objects of a worker, MB: V8's own limit lets each of them grow by 16 MB and more before it collects garbage. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 6 }

/** How much is done at once. */
export interface ThreadOptions {
  /**
   * Threads that work at once, the main one included: 1 to 256. Default: the number of cores, at most 8 and one for each 100 MB of
   * memory, for work on 2,000 windows and more, which is worth the start of a worker.
   */
  readonly threads?: number | undefined
}

/** Throws `bad_option` for a number of threads that is none. */
export function checkThreads({ threads = 1 }: ThreadOptions): void {
  if (Number.isInteger(threads) && threads >= 1 && threads <= MAX_THREADS) return
  throw new KlinesError('bad_option', `--threads is ${threads}. Expected a whole number from 1 to ${MAX_THREADS}.`)
}

/** How many threads do tasks that read so many windows together: as many as requested, at most one a task. Throws `bad_option`. */
export function countThreads(tasks: number, windows: number, { threads }: ThreadOptions): number {
  checkThreads({ threads })
  // Without a limit of its container it is 0, undefined, or more than any machine has.
  const memory = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem())
  const fitting = Math.min(availableParallelism(), DEFAULT_MAX, Math.floor(memory / BYTES_A_THREAD))
  return Math.max(1, Math.min(threads ?? (windows < MIN_WINDOWS ? 1 : fitting), tasks))
}

/** The outcome of a task in a worker. An error is told by its fields: a copy loses its class. */
type Outcome<Result> =
  | { readonly result: Result }
  | { readonly error: unknown; readonly klines?: Pick<KlinesError, 'code' | 'message' | 'suggestions' | 'data'> }

/** What threads do: tasks of a module, which each worker loads and gives its `data`. */
interface Workload<Task, Result> {
  /** The module that a worker runs, relative to the code. It calls `runTasks`. */
  readonly module: string
  readonly data: unknown
  readonly tasks: readonly Task[]
  /** Threads at once, the main one included. */
  readonly threads: number
  /** Does a task in the main thread. */
  readonly work: (task: Task) => Promise<Result>
  /** Called with the result of each task of a worker as it comes. */
  readonly done?: (task: Task, result: Result) => void
  readonly signal: AbortSignal
}

/**
 * Does tasks in the main thread and in workers, and returns their results in order. Whatever fails ends the run as it would in the main
 * thread alone: no other task is begun, and the first error is thrown. No worker runs any more when it settles.
 */
export async function shareTasks<Task, Result>(load: Workload<Task, Result>): Promise<Result[]> {
  const { tasks, threads, work, done, signal } = load
  const results: Result[] = []
  let next = 0
  let failure: { readonly error: unknown } | undefined
  /** The number of the next task; undefined when none is to be begun any more. */
  const take = () => (failure || signal.aborted || next === tasks.length ? undefined : next++)
  const fail = (error: unknown) => {
    failure ??= { error }
  }
  const inMain = async () => {
    for (let index = take(); index !== undefined; index = take()) results[index] = await work(tasks[index])
  }
  const inWorker = async (worker: Worker) => {
    for (let index = take(); index !== undefined; index = take()) {
      const result = await sendTask<Task, Result>(worker, tasks[index])
      results[index] = result
      done?.(tasks[index], result)
    }
  }
  const url = new URL(load.module, CODE_URL)
  const start = () => new Worker(url, { workerData: load.data, env: SHARE_ENV, resourceLimits: RESOURCE_LIMITS })
  const workers = Array.from({ length: Math.min(threads, tasks.length) - 1 }, start)
  const stop = () => Promise.all(workers.map(worker => worker.terminate()))
  signal.addEventListener('abort', stop, { once: true })
  try {
    await Promise.all([...workers.map(worker => inWorker(worker).catch(fail)), inMain().catch(fail)])
  } finally {
    signal.removeEventListener('abort', stop)
    await stop()
  }
  signal.throwIfAborted()
  if (failure) throw failure.error
  return results
}

/** Has a worker do a task. Throws what it throws there, and when the worker ends. */
function sendTask<Task, Result>(worker: Worker, task: Task): Promise<Result> {
  return new Promise((resolve, reject) => {
    const end = () => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
    }
    const onMessage = (outcome: Outcome<Result>) => {
      end()
      if ('result' in outcome) resolve(outcome.result)
      else reject(outcome.klines ? copyError(outcome.klines, outcome.error) : outcome.error)
    }
    const onError = (error: unknown) => {
      end()
      reject(error)
    }
    const onExit = () => onError(new Error('A worker thread ended.'))
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
    worker.postMessage(task)
  })
}

function copyError(
  { code, message, suggestions, data }: Pick<KlinesError, 'code' | 'message' | 'suggestions' | 'data'>,
  cause: unknown,
) {
  return new KlinesError(code, message, { suggestions, data, cause })
}

/** Does the tasks of `shareTasks` in a worker. `open` gets the data of the workload and returns what does one task. */
export function runTasks<Data, Task, Result>(open: (data: Data) => (task: Task) => Promise<Result>): void {
  const port = parentPort
  if (port === null) throw new Error('This module runs in a worker thread.')
  const work = open(workerData as Data)
  port.on('message', (task: Task) => {
    work(task).then(
      result => port.postMessage({ result } satisfies Outcome<Result>),
      error => {
        const klines = error instanceof KlinesError ? error : undefined
        const { code, message, suggestions, data } = klines ?? {}
        const fields =
          klines &&
          ({ code, message, suggestions, data } as Pick<KlinesError, 'code' | 'message' | 'suggestions' | 'data'>)
        port.postMessage({
          error: error instanceof Error ? new Error(error.message) : error,
          klines: fields,
        } satisfies Outcome<Result>)
      },
    )
  })
}
