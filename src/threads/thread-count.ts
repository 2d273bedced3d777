import { availableParallelism, totalmem } from 'node:os'
import { KlinesError } from '../klines/errors.js'

/** More threads are used only when the user says so. */
const DEFAULT_MAX = 8
const MAX_THREADS = 256
/**
 * Memory for each of the threads of a default, bytes: one takes 80 to 130 MB, two 122 to 163, four 185 to 217 and eight 214 to 326,
 * by what they do (5,344 windows of three symbols). So 100 MB each is enough for two and more, and a container of 120 MB has one.
 */
const BYTES_A_THREAD = 100 * 1000 * 1000
/** With fewer windows, one thread is done about when a worker has started. */
const MIN_WINDOWS = 2_000

/** How much is done at once. */
export interface ThreadOptions {
  /**
   * Threads that work at once, the main one included: 1 to 256. Default: the number of cores, at most 8 and one for each 100 MB of
   * memory, for work on 2,000 windows and more, which is worth the start of a worker.
   */
  readonly threads?: number | undefined
}

/** The threads that a request names; undefined for the default. Throws `bad_option`. */
export function parseThreads({ threads }: ThreadOptions): number | undefined {
  if (threads === undefined || (Number.isInteger(threads) && threads >= 1 && threads <= MAX_THREADS)) return threads
  throw new KlinesError('bad_option', `\`threads\` is ${threads}. Expected a whole number from 1 to ${MAX_THREADS}.`)
}

/** What decides how many threads are worthwhile. */
interface Machine {
  readonly cores: number
  /** Memory that this process may use, bytes. */
  readonly memory: number
}

/** How many threads do tasks that read this many windows together: as many as requested, at most one a task. */
export function countThreads(
  tasks: number,
  windows: number,
  requested?: number,
  { cores, memory }: Machine = thisMachine(),
): number {
  const fitting = Math.min(cores, DEFAULT_MAX, Math.floor(memory / BYTES_A_THREAD))
  return Math.max(1, Math.min(requested ?? (windows < MIN_WINDOWS ? 1 : fitting), tasks))
}

/** The cores, and the memory of the machine or of the container that this process runs in. */
function thisMachine(): Machine {
  // Without a limit it is 0, undefined, or more than any machine has.
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY
  return { cores: availableParallelism(), memory: Math.min(limit, totalmem()) }
}
