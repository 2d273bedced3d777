import { readFileSync } from 'node:fs'
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

/** Addresses that a worker takes, bytes: 0.7 GB for its heap, code and stack, and 10 GB for each memory of compiled code. */
const WORKER_BYTES = 32e9
/** The same where Node reserves no more for compiled code than it uses. */
const SMALL_WORKER_BYTES = 2e9

/** What Linux says about a process. */
interface AddressFiles {
  /** Text of `/proc/self/limits`. */
  readonly limits: string
  /** Text of `/proc/self/status`. */
  readonly status: string
}

/**
 * How many workers find room under a limit on addresses (`ulimit -v`); infinite without one. Where a new thread finds none, V8 ends
 * the whole process at once, with a signal and without an error.
 */
export function countRoom(files = readFiles(), options = nodeOptions()): number {
  const [, limit] = /^Max address space\s+(\d+)/m.exec(files?.limits ?? '') ?? []
  const [, used] = /^VmSize:\s+(\d+) kB/m.exec(files?.status ?? '') ?? []
  if (limit === undefined || used === undefined) return Number.POSITIVE_INFINITY
  const bytes = options.includes('--disable-wasm-trap-handler') ? SMALL_WORKER_BYTES : WORKER_BYTES
  return Math.max(0, Math.floor((Number(limit) - 1024 * Number(used)) / bytes))
}

/** Undefined where the system has no such files. */
function readFiles(): AddressFiles | undefined {
  try {
    return { limits: readFileSync('/proc/self/limits', 'utf8'), status: readFileSync('/proc/self/status', 'utf8') }
  } catch {
    return undefined
  }
}

function nodeOptions(): string {
  return [...process.execArgv, process.env.NODE_OPTIONS].join(' ')
}
