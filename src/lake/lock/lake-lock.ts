import { randomUUID } from 'node:crypto'
import { closeSync, fdatasync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { outputError } from '../../export/output/errors.js'
import { refuseLinks } from '../../fs/links.js'
import { type Processes, systemProcesses } from '../../fs/process-identity.js'
import { type Clock, systemClock } from '../../http/system-clock.js'
import { counterOffset, counterText, LOCK_FILE, type LockOwner, lockIsLost, lockText, readLock } from './lock-file.js'
import { RENEW_MS, removeClaims, takeLock } from './take-lock.js'

/** The ids of the locks that this program has. */
const own = new Set<string>()

/** How a process waits for a lock. */
interface LockOptions {
  /** Called with whom it waits for. */
  readonly warn?: ((warning: string) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** What a lock needs of the system. */
export interface LockEffects {
  readonly clock: Clock
  readonly processes: Processes
}

/**
 * Makes one process the only writer of a lake. The lock of an ended process is taken over: at once where the system tells that the
 * process has ended, else after a minute in which it did not renew its lock.
 */
export class LakeLock {
  private readonly ended = new AbortController()

  private constructor(
    private readonly path: string,
    private readonly owner: LockOwner,
    /** The descriptor of the lock itself, whatever has its name: another process that takes over makes another file. */
    private readonly file: number,
    private readonly effects: LockEffects,
  ) {}

  /** Throws `lake_busy` when another process writes the lake, `linked_path` for a lock that is a link, and `output_unwritable`. */
  static async acquire(
    root: string,
    { warn = () => {}, signal }: LockOptions = {},
    effects: LockEffects = { clock: systemClock, processes: systemProcesses() },
  ): Promise<LakeLock> {
    const path = join(root, LOCK_FILE)
    const owner = { ...effects.processes.self, id: randomUUID() }
    const isOwn = (id: string) => own.has(id)
    own.add(owner.id)
    let file: number | undefined
    try {
      refuseLinks(root, LOCK_FILE)
      await takeLock(path, { lock: path, text: lockText(owner), isOwn, ...effects, warn, signal })
      file = openSync(path, 'r+')
      const lock = new LakeLock(path, owner, file, effects)
      lock.check()
      removeClaims(root)
      void lock.renew()
      return lock
    } catch (error) {
      if (file !== undefined) closeSync(file)
      removeOwn(path, owner.id)
      throw signal?.aborted ? error : outputError(error, path)
    }
  }

  /** To be called before something is put in its place or removed. Throws `lake_busy` when another process has the lock now. */
  check(): void {
    const found = this.read()
    if (found?.owner?.id !== this.owner.id) throw lockIsLost(this.path, found, this.effects.processes)
  }

  private read() {
    try {
      return readLock(this.path)
    } catch (error) {
      throw outputError(error, this.path)
    }
  }

  /** Counts on, until the lock is released. What fails is tried again: another process waits for a minute. */
  private async renew(): Promise<void> {
    const { file, owner, ended, effects } = this
    const offset = counterOffset(owner)
    for (let count = 1; ; count++) {
      await effects.clock.sleep(RENEW_MS, ended.signal).catch(() => {})
      if (ended.signal.aborted) return
      try {
        const bytes = Buffer.from(counterText(count))
        writeSync(file, bytes, 0, bytes.length, offset)
        // Other machines that share the disk see it then.
        fdatasync(file, () => {})
      } catch {}
    }
  }

  /** Never throws: a lock that stays is taken over by the next run. */
  release(): void {
    this.ended.abort()
    try {
      closeSync(this.file)
    } catch {}
    removeOwn(this.path, this.owner.id)
  }
}

/** Removes a lock, unless it is that of another process. Never throws. */
function removeOwn(path: string, id: string): void {
  own.delete(id)
  try {
    if (readLock(path)?.owner?.id === id) rmSync(path)
  } catch {}
}
