import { availableParallelism } from 'node:os'
import { KlinesError } from '../klines/errors.js'

/** More threads are used only when the user says so. */
const DEFAULT_MAX = 8
const MAX_THREADS = 256
/** With fewer windows, one thread is done about when a worker has started. */
const MIN_WINDOWS = 2_000

/** How much is done at once. */
export interface ThreadOptions {
  /**
   * Threads that work at once, the main one included: 1 to 256. Default: the number of cores, at most 8, for work on 2,000 windows
   * and more, which is worth the start of a worker.
   */
  readonly threads?: number | undefined
}

/** The threads that a request names; undefined for the default. Throws `bad_option`. */
export function parseThreads({ threads }: ThreadOptions): number | undefined {
  if (threads === undefined || (Number.isInteger(threads) && threads >= 1 && threads <= MAX_THREADS)) return threads
  throw new KlinesError('bad_option', `\`threads\` is ${threads}. Expected a whole number from 1 to ${MAX_THREADS}.`)
}

/** How many threads do tasks that read this many windows together: as many as requested, at most one a task. */
export function countThreads(tasks: number, windows: number, requested?: number): number {
  const worthwhile = windows < MIN_WINDOWS ? 1 : Math.min(availableParallelism(), DEFAULT_MAX)
  return Math.max(1, Math.min(requested ?? worthwhile, tasks))
}
