import { availableParallelism } from 'node:os'
import { KlinesError } from '../klines/errors.js'

/** More threads are used only when the user says so. */
const DEFAULT_MAX = 8
const MAX_THREADS = 256
/** Fewer windows are read and written in the time that a worker takes to start. */
const MIN_WINDOWS = 2_000

/** How much is done at once. */
export interface ThreadOptions {
  /** Threads that work at once, the main one included: 1 to 256. Default: the number of cores, at most 8. */
  readonly threads?: number | undefined
}

/** The number of threads of a request. Throws `bad_option`. */
export function parseThreads({ threads = Math.min(availableParallelism(), DEFAULT_MAX) }: ThreadOptions): number {
  if (Number.isInteger(threads) && threads >= 1 && threads <= MAX_THREADS) return threads
  throw new KlinesError('bad_option', `\`threads\` is ${threads}. Expected a whole number from 1 to ${MAX_THREADS}.`)
}

/** How many of the `threads` are worth their start, for tasks that read this many windows together. */
export function countThreads(tasks: number, windows: number, threads = 1): number {
  return windows < MIN_WINDOWS ? 1 : Math.min(threads, tasks)
}
