import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { KlinesError } from '../../klines/errors.js'
import { outputError } from './errors.js'
import type { Output } from './output.js'
import { type NotRestored, Placement } from './placement.js'

/**
 * Puts finished files in their places: all of them, or none. When one fails, the others become what they were; the error
 * names those for which that fails too, in `data.notRestored`, with the streams, whose bytes cannot be taken back.
 */
export async function commitOutputs(outputs: readonly Pick<Output, 'path' | 'finished'>[]): Promise<void> {
  const files = outputs.flatMap(({ finished }) => finished ?? [])
  const placements: Placement[] = []
  for (const file of files) {
    try {
      // Nothing can fail after the only file, so the old one need not be kept.
      if (outputs.length === 1 && file.force) await rename(file.temp, file.target)
      else {
        const placement = new Placement(file)
        placements.push(placement)
        await placement.place()
      }
    } catch (cause) {
      const error = outputError(cause, file.path)
      const left = await restoreAll(placements)
      throw outputs.length === 1 ? error : describeRest(error, [...left, ...outputs.flatMap(findWrittenStream)])
    }
  }
  for (const folder of new Set(files.map(({ target }) => dirname(target)))) await syncFolder(folder)
  for (const placement of placements) await placement.clean()
}

/** Undoes placements, the last one first. Returns those that are not as before. */
async function restoreAll(placements: readonly Placement[]): Promise<NotRestored[]> {
  const left: NotRestored[] = []
  for (const placement of placements.toReversed()) {
    const failed = await placement.restore()
    if (failed) left.unshift(failed)
  }
  return left
}

function findWrittenStream({ path, finished }: Pick<Output, 'path' | 'finished'>): NotRestored[] {
  return finished ? [] : [{ path, reason: 'a pipe or a device has its rows already' }]
}

/** Adds to the error of one output what became of the others. */
function describeRest(error: KlinesError, notRestored: readonly NotRestored[]): KlinesError {
  const { code, suggestions, data, cause } = error
  const names = notRestored.map(
    ({ path, reason, backup }) => `${path} (${reason}${backup === undefined ? '' : `; its old file is ${backup}`})`,
  )
  const rest =
    names.length === 0 ? 'All files are as they were.' : `All files are as they were, except ${names.join(', ')}.`
  const details = { cause, suggestions, data: { ...data, notRestored } }
  return new KlinesError(code, `${error.message} ${rest}`, details)
}

/** A new name is durable once its folder is flushed (fsync(2)); a file system that cannot do that does not need it. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined)
  await folder?.sync().catch(() => {})
  await folder?.close().catch(() => {})
}
