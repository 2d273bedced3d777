import { lstat, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { KlinesError } from '../../candles/errors.js'
import { undefinedIfMissing } from '../../fs/errno.js'
import { outputError, outputExists, outputIsFolder } from './errors.js'
import type { FinishedFile, Output } from './output.js'

const CHUNK_BYTES = 1024 * 1024

/**
 * Puts finished files in their places by one rename each; a file that has the same bytes already stays. What can be known before
 * the first rename is thrown before it. A rename that fails after others throws `output_unwritable` with the names of the new files.
 * Returns the paths of the files that are new or have changed.
 */
export async function commitOutputs(outputs: readonly Pick<Output, 'path' | 'finished'>[]): Promise<string[]> {
  const files = outputs.flatMap(({ finished }) => finished ?? [])
  const changed: FinishedFile[] = []
  for (const file of files) if (!(await isCurrent(file))) changed.push(file)
  const placed: string[] = []
  for (const { path, temp, target } of changed) {
    try {
      await rename(temp, target)
      placed.push(path)
    } catch (cause) {
      throw placed.length === 0 ? outputError(cause, path) : afterOthers(outputError(cause, path), placed)
    }
  }
  for (const folder of new Set(changed.map(({ target }) => dirname(target)))) await syncFolder(folder)
  for (const { temp } of files) await rm(temp, { force: true }).catch(() => {})
  return placed
}

/** Writes an output that was opened, and puts it in its place. `check` is called before that. Leaves what was there when anything fails. */
export async function writeOutput(output: Output, bytes: Uint8Array, check = () => {}): Promise<void> {
  try {
    await output.write(bytes)
    await output.finish()
    check()
    await commitOutputs([output])
  } catch (error) {
    await output.discard()
    throw error
  }
}

/** Whether the target of a file has its bytes already. Throws what keeps the file from its place. */
async function isCurrent({ path, temp, target, force }: FinishedFile): Promise<boolean> {
  try {
    const found = await lstat(target).catch(undefinedIfMissing)
    if (found === undefined) return false
    if (found.isDirectory()) throw outputIsFolder(path)
    if (!force) throw outputExists(`${path} was created by another program meanwhile.`)
    // One that cannot be read can be replaced all the same.
    return found.isFile() && (await haveSameBytes(temp, target).catch(() => false))
  } catch (error) {
    throw outputError(error, path)
  }
}

/** Whether two files have the same bytes. */
async function haveSameBytes(path: string, other: string): Promise<boolean> {
  const files = [await open(path), await open(other)]
  try {
    const [{ size }, { size: otherSize }] = [await files[0].stat(), await files[1].stat()]
    if (size !== otherSize) return false
    const buffers = files.map(() => Buffer.allocUnsafe(CHUNK_BYTES))
    for (;;) {
      const parts: Buffer[] = []
      for (const [index, file] of files.entries()) {
        const { bytesRead } = await file.read(buffers[index], 0, CHUNK_BYTES)
        parts.push(buffers[index].subarray(0, bytesRead))
      }
      if (!parts[0].equals(parts[1])) return false
      if (parts[0].length === 0) return true
    }
  } finally {
    for (const file of files) await file.close()
  }
}

function afterOthers({ message, suggestions, data, cause }: KlinesError, placed: readonly string[]): KlinesError {
  const text = `${message} These files are new already: ${placed.join(', ')}.`
  return new KlinesError('output_unwritable', text, { cause, suggestions, data: { ...data, placed } })
}

/** A new name is durable once its folder is flushed (fsync(2)); a file system that cannot do that does not need it. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined)
  await folder?.sync().catch(() => {})
  await folder?.close().catch(() => {})
}
