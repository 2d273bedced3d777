import { closeSync, constants, copyFileSync, linkSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { tempPath } from '../../export/output/temp.js'
import { errnoCode } from '../../fs/errno.js'
import { isNear, type Processes, type ProcessIdentity } from '../../fs/process-identity.js'
import { KlinesError } from '../../klines/errors.js'
import { parseObject } from '../../klines/json.js'

/** The file in a lake that says which process writes it. */
export const LOCK_FILE = '_lock'

/** Who has a lock. `id`: a text that no other lock has. */
export interface LockOwner extends ProcessIdentity {
  readonly id: string
}

/** A lock as it was read. */
export interface FoundLock {
  readonly text: string
  /** Undefined for a file that is no lock, or only a part of one. */
  readonly owner: LockOwner | undefined
}

/** More than any lock has. */
const MAX_BYTES = 4096
const COUNTER_DIGITS = 10
const HOST = /^[\p{L}\p{N}._-]{1,64}$/u
/** The lock of older versions: host, process number, 64 random bits. */
const OLD_LOCK = /^([^~]+)~(\d+)~[0-9a-f]{16}$/
/** Where open(2) has them: a link is not followed, and a pipe does not block. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants

/**
 * The content of a lock: its owner as JSON, and a line with a counter that the owner renews. Older versions take it for the lock of
 * another machine, which they leave alone.
 */
export function lockText(owner: LockOwner): string {
  return `${JSON.stringify(owner)}\n${counterText(0)}\n`
}

/** The counter of a lock as text. It always has the same length, so that it is written over the old one. */
export function counterText(count: number): string {
  return String(count).padStart(COUNTER_DIGITS, '0')
}

/** Where the counter begins in the lock of an owner, bytes. */
export function counterOffset(owner: LockOwner): number {
  return Buffer.byteLength(lockText(owner)) - COUNTER_DIGITS - 1
}

/** Reads a lock, which may be anything; undefined when there is none. Throws `bad_output` for a link, and what the file system throws. */
export function readLock(path: string): FoundLock | undefined {
  let file: number
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    const code = errnoCode(error)
    if (code === 'ENOENT') return undefined
    if (code === 'ELOOP') throw new KlinesError('bad_output', `${path} is a link. Expected a file.`, { cause: error })
    throw error
  }
  try {
    const bytes = Buffer.alloc(MAX_BYTES)
    const text = bytes.toString('utf8', 0, readSync(file, bytes))
    return { text, owner: parseOwner(text) }
  } finally {
    closeSync(file)
  }
}

function parseOwner(text: string): LockOwner | undefined {
  const [line] = text.split('\n')
  const [, host, pid] = OLD_LOCK.exec(line) ?? []
  const fields = host === undefined ? (parseObject(line) ?? {}) : { id: line, host, pid: Number(pid) }
  const { id, boot, namespace, started } = fields
  if (typeof id !== 'string' || !Number.isSafeInteger(fields.pid)) return undefined
  const texts = { boot: findText(boot), namespace: findText(namespace), started: findText(started) }
  const isHost = typeof fields.host === 'string' && HOST.test(fields.host)
  return { id, host: isHost ? String(fields.host) : 'an unknown machine', pid: Number(fields.pid), ...texts }
}

function findText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Makes a lock, with its content from the first moment; returns whether there was none. `lock`: names the temp file. */
export function tryPlace(path: string, text: string, lock: string): boolean {
  const temp = tempPath(lock)
  try {
    writeFileSync(temp, text, { flag: 'wx' })
    return tryLink(temp, path)
  } finally {
    rmSync(temp, { force: true })
  }
}

/** Gives a file a second name; returns whether that was free. A file system without hard links gets a copy. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    const code = errnoCode(error)
    // ENOENT: who owns the lake has removed the temp file meanwhile, with those of ended runs.
    if (code === 'EEXIST' || code === 'ENOENT') return false
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code)) throw error
  }
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL)
    return true
  } catch (error) {
    if (errnoCode(error) === 'EEXIST') return false
    throw error
  }
}

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
