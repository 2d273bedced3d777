import { statSync } from 'node:fs'
import { join } from 'node:path'
import { KlinesError } from '../candles/errors.js'
import { outputError } from '../engine/output-file.js'
import { errnoCode } from '../fs/errno.js'
import { makeFolder } from '../fs/folders.js'

/** A folder as long as a run writes the lake. */
export const LOCK_FOLDER = '_klines.lock'

/** Saves two runs from doing the same work. Without it, nothing would be wrong. */
export type LakeLock = Awaited<ReturnType<typeof lockLake>>

/** Makes the folder where it is missing. Throws `lake_busy` when another run is writing it, and `output_unwritable`. */
export async function lockLake(root: string) {
  const lockfilePath = join(root, LOCK_FOLDER)
  const busy = (message: string) =>
    new KlinesError('lake_busy', message, { suggestions: ['Run the same command again when it has ended.'] })
  let isLost = false
  const onCompromised = () => {
    isLost = true
  }
  try {
    makeFolder(root)
    // It listens to signals and to the end of the process from its first moment on.
    const { default: lockfile } = await import('proper-lockfile')
    const release = await lockfile.lock(root, { lockfilePath, stale: 60_000, update: 5_000, onCompromised })
    // A disk may give the inode of a removed folder to the next one.
    const identify = () => {
      const stats = statSync(lockfilePath, { throwIfNoEntry: false })
      return `${stats?.ino} ${stats?.birthtimeMs}`
    }
    const own = identify()
    return {
      /** Throws `lake_busy` when this run slept so long that another one has taken the lock over. */
      check: () => {
        // The library looks at it every 5 s.
        isLost ||= identify() !== own
        if (isLost) throw busy(`Another run has begun to write ${root}, while this one stood still.`)
      },
      release: async () => {
        if (!isLost) await release().catch(() => {})
      },
    }
  } catch (error) {
    if (errnoCode(error) === 'ELOCKED') throw busy(`Another run is writing ${root}.`)
    throw outputError(error, root)
  }
}
