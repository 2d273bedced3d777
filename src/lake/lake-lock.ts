import { statSync } from 'node:fs'
import { join } from 'node:path'
import { outputError } from '../export/output/errors.js'
import { errnoCode } from '../fs/errno.js'
import { refuseLinks } from '../fs/links.js'
import { KlinesError } from '../klines/errors.js'

/** The folder in a lake that is there while a run writes it. */
export const LOCK_FILE = '_lock'

/** The lock of a lake. It only saves work: two runs that both have it write whole parts. */
export interface LakeLock {
  /** To be called before something is put in its place or removed. Throws `lake_busy` when the lock is lost. */
  check(): void
  /** Never throws. */
  release(): Promise<void>
}

/** Throws `lake_busy` when another run writes the lake, `linked_path` and `output_unwritable`. */
export async function lockLake(root: string): Promise<LakeLock> {
  const path = join(root, LOCK_FILE)
  let isLost = false
  const onCompromised = () => {
    isLost = true
  }
  try {
    refuseLinks(root, LOCK_FILE)
    const { lock } = await import('proper-lockfile')
    const release = await lock(root, { lockfilePath: path, stale: 60_000, update: 5_000, onCompromised })
    const made = findFolder(path)
    return {
      check() {
        if (!isLost && findFolder(path) === made) return
        const reason = `${path} is gone, or that of another run`
        throw lakeBusy(
          `This run has lost its lock on the lake: ${reason}. A run that stands still for a minute loses it.`,
        )
      },
      release: () => release().catch(() => {}),
    }
  } catch (error) {
    if (errnoCode(error) !== 'ELOCKED') throw outputError(error, path)
    throw lakeBusy(
      `The lake is being written by another run: ${path} is its lock, or was that of one killed less than a minute ago.`,
    )
  }

  function lakeBusy(message: string): KlinesError {
    return new KlinesError('lake_busy', message, {
      suggestions: ['Run the same command again later.'],
      data: { lock: path },
    })
  }
}

/** Tells a folder from another one of the same name. */
function findFolder(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats && `${stats.ino} ${stats.birthtimeMs}`
}
