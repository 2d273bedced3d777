import { stat } from 'node:fs/promises'
import { type EventOptions, toWarn } from '../download/events.js'
import type { Warn } from '../download/sources/window-source.js'
import { commitOutputs } from '../export/output/commit.js'
import { openOutput } from '../export/output/open.js'
import { checkOutputs } from '../export/output-spec.js'
import { isKlinesError } from '../klines/errors.js'
import { encodeLock, LOCK_NAME, type Lock, readLock } from './lock-file.js'

/** The file of a lock, which was checked and not yet written. */
interface PreparedLock {
  readonly path: string
  /** Writes the lock whole, or leaves what was there. Returns the lock that it replaces, if there is one. */
  write(lock: Lock): Promise<Lock | undefined>
}

/** What is said about the file of a lock. */
interface LockFileRequest extends EventOptions {
  readonly output?: string | undefined
  readonly force?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/** Checks that a lock can be written, before any work is done for it. Throws `output_exists` without `force`, and `bad_output`. */
export async function prepareLockFile({ output, force, signal, ...events }: LockFileRequest): Promise<PreparedLock> {
  const warn = toWarn(events)
  const path = output ?? LOCK_NAME
  await checkOutputs([{ path }], { force })
  return {
    path,
    async write(lock) {
      const bytes = encodeLock(lock)
      const replaced = await readReplaced(path, warn)
      const output = await openOutput(path, false, { force, signal })
      try {
        await output.write(bytes)
        await output.finish()
        await commitOutputs([output])
      } catch (error) {
        await output.discard()
        throw error
      }
      return replaced
    },
  }
}

async function readReplaced(path: string, warn: Warn): Promise<Lock | undefined> {
  const isFile = path !== '-' && (await stat(path).catch(() => undefined))?.isFile()
  if (!isFile) return undefined
  try {
    return await readLock(path)
  } catch (error) {
    if (!isKlinesError(error, 'bad_input')) throw error
    warn(`What was replaced is no lock that this version reads. ${error.message}`)
    return undefined
  }
}
