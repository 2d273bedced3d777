import { isNear, type Processes } from '../../fs/process-identity.js'
import { KlinesError } from '../../klines/errors.js'
import type { FoundLock, LockOwner } from './lock-file.js'

/** The error for a lake that a running process writes. */
export function lakeIsBusy(lock: string, owner: LockOwner | undefined, processes: Processes): KlinesError {
  const message = `The lake is being written by ${describeOwner(owner, processes)}: ${lock} is its lock.`
  return lakeBusy(message, lock, 'Run the same command again when that process has ended.')
}

/** What is said before a minute of waiting. */
export function waitingText(lock: string, owner: LockOwner | undefined, processes: Processes): string {
  const name = describeOwner(owner, processes)
  return `${lock} is the lock of ${name}. Waiting for up to a minute, to see whether it still writes the lake.`
}

/** The error for a run whose lock is gone, or that of another process. */
export function lockIsLost(lock: string, found: FoundLock | undefined, processes: Processes): KlinesError {
  const what = found === undefined ? 'is gone' : `is that of ${describeOwner(found.owner, processes)} now`
  const message = `This run has lost its lock on the lake: ${lock} ${what}. A run that stands still for a minute loses it.`
  return lakeBusy(message, lock, 'Run the same command again.')
}

function lakeBusy(message: string, lock: string, suggestion: string): KlinesError {
  return new KlinesError('lake_busy', message, { suggestions: [suggestion], data: { lock } })
}

function describeOwner(owner: LockOwner | undefined, processes: Processes): string {
  if (owner === undefined) return 'an unknown process'
  const { pid, host, boot } = owner
  if (isNear(owner, processes)) return `process ${pid}`
  const isOther = boot !== undefined && processes.self.boot !== undefined && host === processes.self.host
  return `process ${pid} of ${isOther ? `another machine or container that is called ${host}` : host}`
}
