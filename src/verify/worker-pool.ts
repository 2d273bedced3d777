import { availableParallelism } from 'node:os'
import { SHARE_ENV, Worker } from 'node:worker_threads'
import { CODE_URL } from '../version.js'
import type { SeriesWindows, SymbolFindings } from './verify-symbol.js'

/** Fewer windows than this are read before a thread has started, which takes some 80 ms. */
const MIN_WINDOWS = 2_000
/** Each has tables of its own, some 100 MB for a long history. */
const MAX_THREADS = 3

/** What there is to verify, as a thread is told it. */
export interface VerifyTask {
  /** The mirror's. */
  readonly root: string
  /** The windows of each symbol. */
  readonly symbols: readonly (readonly SeriesWindows[])[]
  readonly audit: boolean
}

/** What a thread is started with. */
export interface WorkerTask extends VerifyTask {
  /** By symbol: 1 when somebody has taken it on. */
  readonly claims: Int32Array
}

/** What a thread says when it is done with a symbol. */
export interface WorkerReport {
  readonly index: number
  readonly findings: SymbolFindings
}

/** Takes a symbol on, unless somebody has. */
export function claim(claims: Int32Array, index: number): boolean {
  return Atomics.compareExchange(claims, index, 0, 1) === 0
}

/** Threads that help with a large mirror: they take symbols on from the start of the list. */
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
    const report: ((findings: SymbolFindings) => void)[] = []
    this.reports = symbols.map((_, index) => new Promise(resolve => (report[index] = resolve)))
    for (const worker of this.workers) {
      worker.on('message', ({ index, findings }: WorkerReport) => report[index](findings))
    }
    this.ended = Promise.all(this.workers.map(worker => new Promise(resolve => worker.once('exit', resolve))))
  }

  /** What a thread has found in a symbol, once that is known; undefined when all have ended without it. */
  async findings(index: number): Promise<SymbolFindings | undefined> {
    return Promise.race([this.reports[index], this.ended.then(() => undefined)])
  }

  stop(): void {
    for (const worker of this.workers) void worker.terminate()
  }
}

/** As many as there can be. */
function startWorkers(count: number, workerData: WorkerTask): Worker[] {
  const workers: Worker[] = []
  try {
    while (workers.length < count) {
      const file = new URL('verify/worker.js', CODE_URL)
      // What a thread leaves undone is done by who asks for it, and fails there again if there is cause.
      workers.push(new Worker(file, { workerData, env: SHARE_ENV }).on('error', () => {}))
    }
  } catch {
    // A limit on threads, or no permission: the work is done without.
  }
  return workers
}
