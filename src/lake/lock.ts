import { constants, copyFileSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { outputError } from '../export/output/errors.js'
import { tempPath, tempSibling } from '../export/output/temp.js'
import { refuseLinks } from '../fs/links.js'
import { isAbandoned, isFromThisHost, tempName } from '../fs/temp-name.js'
import { KlinesError } from '../klines/errors.js'

/** The file in a lake that says which process writes it. */
export const LOCK_FILE = '_lock'

/** The names in the locks of this process: the lock of an ended process may have its id. */
const own = new Set<string>()

/** Makes one process the only writer of a lake. The lock of a process that was killed is taken over. */
export class LakeLock {
  private constructor(
    private readonly path: string,
    private readonly name: string,
  ) {}

  /** Throws `bad_output` when another process writes the lake, `linked_path` for a lock that is a link, and `output_unwritable`. */
  static acquire(root: string): LakeLock {
    const path = join(root, LOCK_FILE)
    const name = tempName()
    const temp = tempPath(path)
    try {
      refuseLinks(root, LOCK_FILE)
      writeFileSync(temp, `${name}\n`, { flag: 'wx' })
      // A link has its content from the first moment, so that no other process reads half of it.
      if (!tryLink(temp, path)) takeOver(path, temp)
    } catch (error) {
      throw outputError(error, path)
    } finally {
      rmSync(temp, { force: true })
    }
    own.add(name)
    return new LakeLock(path, name)
  }

  /** Never throws: a lock that stays is taken over by the next run. */
  release(): void {
    own.delete(this.name)
    try {
      if (readOwner(this.path) === this.name) rmSync(this.path)
    } catch {}
  }
}

/** Replaces the lock of an ended process. Other processes may try the same: one of them gets it. */
function takeOver(path: string, temp: string): void {
  const owner = readOwner(path)
  if (owner !== undefined) {
    if (!hasEnded(owner)) throw locked(path, owner)
    const old = tempSibling(temp, 'new')
    try {
      renameSync(path, old)
      // What was moved may be the lock of a process that took over a moment before.
      if (readOwner(old) !== owner) tryLink(old, path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    } finally {
      rmSync(old, { force: true })
    }
  }
  if (!tryLink(temp, path)) throw locked(path, readOwner(path) ?? '')
}

function hasEnded(owner: string): boolean {
  const isOwnId = isFromThisHost(owner) && Number(owner.split('~')[1]) === process.pid
  return isAbandoned(owner) || (isOwnId && !own.has(owner))
}

function locked(path: string, owner: string): KlinesError {
  const [host, id = 'unknown'] = owner.split('~')
  const writer = `process ${id}${isFromThisHost(owner) ? '' : ` of ${host || 'an unknown machine'}`}`
  return new KlinesError('bad_output', `The lake is being written by ${writer}: ${path} is its lock.`, {
    suggestions: ['Wait until that process has ended. If it has ended, remove the lock.'],
    data: { lock: path },
  })
}

/** The name in a lock; undefined when there is none. */
function readOwner(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Gives a file a second name; returns whether that was free. A file system without hard links gets a copy. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code)) throw error
  }
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
