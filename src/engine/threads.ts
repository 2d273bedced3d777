import { availableParallelism, totalmem } from 'node:os'
import { parentPort, SHARE_ENV, Worker, workerData } from 'node:worker_threads'
import { KlinesError } from '../candles/errors.js'
import { checkValue } from '../options.js'
import { CODE_URL } from '../version.js'

/** More threads are used only when the user says so. */
const DEFAULT_MAX = 8
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
export function checkThreads({ threads }: ThreadOptions): void {
  checkValue('threads', { takes: 'number', range: { min: 1, max: 256 } }, threads)
}

/** How many threads do tasks that read so many windows together: as many as requested, at most one a task. Throws `bad_option`. */
export function countThreads(tasks: number, windows: number, { threads }: ThreadOptions): number {
  checkThreads({ threads })
  // Without a limit of its container it is 0, undefined, or more than any machine has.
  const memory = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem())
  const fitting = Math.min(availableParallelism(), DEFAULT_MAX, Math.floor(memory / BYTES_A_THREAD))
  return Math.max(1, Math.min(threads ?? (windows < MIN_WINDOWS ? 1 : fitting), tasks))
}

/** What threads do: tasks of a kind that `src/worker.ts` knows, whose workers begin with `data`. */
interface Workload<Task, Result> {
  readonly kind: 'encode' | 'verify'
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
  const { kind, data, tasks, threads, work, done, signal } = load
  const results: Result[] = []
  let next = 0
  let failure: { readonly error: unknown } | undefined
  /** Does one task after the other, until none is left or something failed anywhere. */
  const doTasks = async (doTask: (task: Task) => Promise<Result>, isDone?: typeof done) => {
    try {
      while (!failure && !signal.aborted && next < tasks.length) {
        const index = next++
        results[index] = await doTask(tasks[index])
        isDone?.(tasks[index], results[index])
      }
    } catch (error) {
      failure ??= { error }
    }
  }
  const start = () =>
    new Worker(new URL('worker.cjs', CODE_URL), {
      ...{ workerData: { kind, data }, env: SHARE_ENV, resourceLimits: RESOURCE_LIMITS },
    })
  const workers = Array.from({ length: Math.min(threads, tasks.length) - 1 }, start)
  const stop = () => Promise.all(workers.map(worker => worker.terminate()))
  signal.addEventListener('abort', stop, { once: true })
  try {
    await Promise.all([...workers.map(worker => doTasks(task => sendTask(worker, task), done)), doTasks(work)])
  } finally {
    signal.removeEventListener('abort', stop)
    await stop()
  }
  signal.throwIfAborted()
  if (failure) throw failure.error
  return results
}

/** The outcome of a task in a worker. An error comes as its fields: a copy would lose its class. */
type Outcome<Result> =
  | { readonly result: Result }
  | { readonly error: Pick<KlinesError, 'message'> & Partial<Pick<KlinesError, 'code' | 'suggestions' | 'data'>> }

/** Has a worker do a task. Throws what it throws there, and when the worker ends. */
function sendTask<Task, Result>(worker: Worker, task: Task): Promise<Result> {
  return new Promise<Result>((resolve, reject) => {
    const onMessage = (outcome: Outcome<Result>) => {
      end()
      if ('result' in outcome) return resolve(outcome.result)
      const { code, message, suggestions, data } = outcome.error
      reject(code ? new KlinesError(code, message, { suggestions, data }) : new Error(message))
    }
    const onExit = () => reject(new Error('A worker thread ended.'))
    // Not `removeAllListeners`: a worker without the listeners of Node's own answers no more.
    const end = () => worker.off('message', onMessage).off('error', reject).off('exit', onExit)
    worker.on('message', onMessage).on('error', reject).on('exit', onExit)
    worker.postMessage(task)
  })
}

/** Does the tasks of `shareTasks` in a worker. `open`: for each kind, gets the data of the workload and returns what does one task. */
export function runTasks(
  open: Record<Workload<never, never>['kind'], (data: never) => (task: never) => Promise<unknown>>,
): void {
  const { kind, data } = workerData as Pick<Workload<unknown, unknown>, 'kind' | 'data'>
  const work = open[kind](data as never)
  parentPort?.on('message', async (task: unknown) => {
    try {
      parentPort?.postMessage({ result: await work(task as never) })
    } catch (error) {
      const { message, ...fields } = error as KlinesError
      const { code, suggestions, data } = error instanceof KlinesError ? fields : {}
      parentPort?.postMessage({ error: { message, code, suggestions, data } })
    }
  })
}
