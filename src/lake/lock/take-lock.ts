import { createHash } from 'node:crypto'
import { readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { findState, type Processes, type ProcessState } from '../../fs/process-identity.js'
import type { Clock } from '../../http/system-clock.js'
import { type FoundLock, LOCK_FILE, lakeIsBusy, readLock, tryPlace, waitingText } from './lock-file.js'

/** How often the owner of a lock renews it, ms. */
export const RENEW_MS = 5000
/** A lock that its owner has not renewed in so much time of waiting is that of an ended process, ms. */
const DEAD_AFTER_MS = 60_000
const POLL_MS = 1000

/** What a process that wants a lock has. */
interface Contender {
  /** The path of the lock. */
  readonly lock: string
  /** What it writes into the lock. */
  readonly text: string
  /** Whether an id is that of a lock that this program has. */
  readonly isOwn: (id: string) => boolean
  readonly processes: Processes
  readonly clock: Clock
  readonly warn: (warning: string) => void
  readonly signal: AbortSignal | undefined
}

/**
 * Makes the lock at `path` that of the contender, also when there is that of an ended process. Throws `lake_busy` when a running process
 * has it, and what the file system throws.
 *
 * Of several contenders that find the lock of an ended process, one gets it: the one that makes the claim to exactly that lock, which is a
 * file with one name for all of them, and a lock itself, so that the claim of an ended process is replaced in the same way. Nobody else
 * changes the old lock then, and one rename of the claim replaces it.
 */
export async function takeLock(path: string, contender: Contender): Promise<void> {
  const { lock, text } = contender
  while (!tryPlace(path, text, lock)) {
    const found = readLock(path)
    if (found === undefined || !(await hasEnded(path, found, contender))) continue
    const claim = claimPath(path, found, lock)
    await takeLock(claim, contender)
    if (replaceLock(path, found, claim)) return
  }
}

/** Replaces a lock by the claim to it; false when another contender has replaced it, and used its claim up, before this one made its own. */
function replaceLock(path: string, { text }: FoundLock, claim: string): boolean {
  try {
    if (readLock(path)?.text !== text) return false
    renameSync(claim, path)
    return true
  } finally {
    rmSync(claim, { force: true })
  }
}

const CLAIM = /^\._lock\.claim~0~[0-9a-f]{16}\.new$/

/** The path of the claim to a lock: a name as temp files have it, which follows from the lock alone. */
function claimPath(path: string, { text }: FoundLock, lock: string): string {
  const digest = createHash('sha256')
    .update(`${basename(path)} ${text}`)
    .digest('hex')
  return join(dirname(lock), `.${LOCK_FILE}.claim~0~${digest.slice(0, 16)}.new`)
}

/** Removes the claims that ended processes have left. To be called with the lock: a claim to another one is of no use any more. */
export function removeClaims(root: string): void {
  for (const name of readdirSync(root)) if (CLAIM.test(name)) rmSync(join(root, name), { force: true })
}

/**
 * Whether the owner of a lock has ended. Where the system does not say it, the owner has ended when the lock stays as it is for a minute
 * of waiting; a machine that slept has not waited, so that the looks at the lock are counted and not the time. False when the lock
 * is gone or another one meanwhile; throws `lake_busy` when its owner is running.
 */
async function hasEnded(path: string, found: FoundLock, contender: Contender): Promise<boolean> {
  const { lock, processes, clock, warn, signal } = contender
  const busy = () => lakeIsBusy(lock, found.owner, processes)
  const end = () => {
    const state = stateOf(found, contender)
    if (state === 'running') throw busy()
    return state === 'ended'
  }
  if (end()) return true
  warn(waitingText(lock, found.owner, processes))
  for (let waitedMs = 0; waitedMs < DEAD_AFTER_MS; waitedMs += POLL_MS) {
    await clock.sleep(POLL_MS, signal)
    const now = readLock(path)
    if (now === undefined || now.owner?.id !== found.owner?.id) return false
    if (now.text !== found.text) throw busy()
    if (end()) return true
  }
  return true
}

/** The lock of this process that this program does not know is that of another copy of the program in it, or was left by one. */
function stateOf({ owner }: FoundLock, { processes, isOwn }: Contender): ProcessState {
  if (owner === undefined) return 'unknown'
  if (isOwn(owner.id)) return 'running'
  const state = findState(owner, processes)
  return state === 'running' && owner.pid === processes.self.pid ? 'unknown' : state
}
