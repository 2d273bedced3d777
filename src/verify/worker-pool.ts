import { availableParallelism } from 'node:os'
import { SHARE_ENV, Worker } from 'node:worker_threads'
import { CODE_URL } from '../version.js'
import type { SeriesWindows, SymbolFindings, VerifyScope } from './verify-symbol.js'

/** Fewer windows are verified in the 80 ms that a thread takes to start. */
const MIN_WINDOWS = 2_000
/** Each thread has its own tables, about 100 MB for a long history. */
const MAX_THREADS = 3

/** The work of a verification. */
export interface VerifyTask extends VerifyScope {
  /** The root of the mirror. */
  readonly root: string
  /** The windows of each symbol. */
  readonly symbols: readonly (readonly SeriesWindows[])[]
}

/** The data a thread starts with. */
export interface WorkerTask extends VerifyTask {
  /** For each symbol, 1 when a thread has claimed it. */
  readonly claims: Int32Array
}

/** The message of a thread after each symbol. */
export interface WorkerReport {
  readonly index: number
  readonly findings: SymbolFindings
}

/** Claims a symbol; returns false when another thread has claimed it. */
export function claim(claims: Int32Array, index: number): boolean {
  return Atomics.compareExchange(claims, index, 0, 1) === 0
}

/** Threads that help to verify a large mirror. They claim symbols from the start of the list. */
export class WorkerPool {
  readonly claims: Int32Array
  private readonly workers: readonly Worker[]
  private readonly reports: readonly Promise<SymbolFindings>[]
  private readonly ended: Promise<unknown>

  constructor(task: VerifyTask) {
    const { symbols } = task
    this.claims = new Int32Array(new SharedArrayBuffer(4 * symbols.length))
    const windows = symbols.flat().reduce((sum, { startDates }) => sum + startDates.length, 0)
    const count = windows < MIN_WINDOWS ? 0 : Math.min(availableParallelism(), symbols.length, 1 + MAX_THREADS) - 1
    this.workers = startWorkers(count, { ...task, claims: this.claims })
    const resolvers: ((findings: SymbolFindings) => void)[] = []
    this.reports = symbols.map((_, index) => new Promise(resolve => (resolvers[index] = resolve)))
    for (const worker of this.workers) {
      worker.on('message', ({ index, findings }: WorkerReport) => resolvers[index](findings))
    }
    this.ended = Promise.all(this.workers.map(worker => new Promise(resolve => worker.once('exit', resolve))))
  }

  /** Waits for the findings for a symbol; undefined when all threads have ended without them. */
  async findings(index: number): Promise<SymbolFindings | undefined> {
    return Promise.race([this.reports[index], this.ended.then(() => undefined)])
  }

  stop(): void {
    for (const worker of this.workers) void worker.terminate()
  }
}

/** Starts up to `count` threads. */
function startWorkers(count: number, workerData: WorkerTask): Worker[] {
  const workers: Worker[] = []
  try {
    while (workers.length < count) {
      const file = new URL('verify/worker.js', CODE_URL)
      // The main thread repeats the work of a failed thread, and reports the error if it fails again.
      workers.push(new Worker(file, { workerData, env: SHARE_ENV }).on('error', () => {}))
    }
  } catch {
    // The system may refuse more threads; the main thread then does the work.
  }
  return workers
}
