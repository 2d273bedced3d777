import { readFileSync } from 'node:fs'
import { serialize } from 'node:v8'
import { SHARE_ENV, Worker } from 'node:worker_threads'
import { CODE_URL } from '../version.js'
import { claim, type WorkerMessage, type WorkerStart } from './tasks.js'

/** The number of the main thread among those that claim tasks; workers have higher ones. */
const MAIN_THREAD = 1

/** Short-lived objects of a worker, MB: V8's own limit lets each of them grow by 16 MB and more before it collects garbage. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 6 }

/** What the threads of a `WorkerPool` do. */
export interface Workload {
  /** The module that a worker runs, relative to the code. It calls `runTasks`. */
  readonly module: string
  /** Number of workers, beside the main thread. */
  readonly workers: number
  /** Number of tasks. */
  readonly tasks: number
  /** What a worker starts with. Each gets a copy. */
  readonly data: unknown
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
    this.claims = new Int32Array(new SharedArrayBuffer(4 * load.tasks))
    for (let task = 0; task < load.tasks; task++) {
      this.results.push(new Promise(resolve => this.resolvers.push(resolve)))
    }
    if (load.workers > 0) this.start(serialize(load.data))
  }

  /** Claims a task for the main thread; returns false when a worker has it. */
  claim(task: number): boolean {
    return claim(this.claims, task, MAIN_THREAD)
  }

  /** Leaves all tasks that no worker has claimed to the main thread. */
  claimRest(): void {
    for (let task = 0; task < this.load.tasks; task++) this.claim(task)
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

  private start(data: Buffer): void {
    const module = new URL(this.load.module, CODE_URL)
    const workers = Math.min(this.load.workers, countRoom())
    try {
      while (this.workers.length < workers) {
        const workerData: WorkerStart = { claims: this.claims, thread: MAIN_THREAD + 1 + this.workers.length, data }
        const worker = new Worker(module, { workerData, env: SHARE_ENV, resourceLimits: RESOURCE_LIMITS })
        this.workers.push(worker)
        this.exits.push(this.listen(worker, workerData.thread))
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
