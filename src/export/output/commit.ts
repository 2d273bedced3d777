import { link, lstat, open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describeErrno, errnoCode } from '../../fs/errno.js'
import { findFileId } from '../../fs/file-id.js'
import { KlinesError } from '../../klines/errors.js'
import { outputError, outputExists, outputIsFolder } from './errors.js'
import type { FinishedFile, Output } from './output.js'
import { type TempKind, tempSibling } from './temp.js'

/** What link(2) says where the file system, or its protection of other users' files, does not allow a hard link. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

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

/** An output that is not as it was before a failed commit. */
interface NotRestored {
  readonly path: string
  readonly reason: string
  /** Where its old file is, if there was one. */
  readonly backup?: string
}

/**
 * Puts one file in its place and can put back what was there. Until `clean` the temp file stays as a second name of the new
 * file, and so does the old file: they tell a later run which files a killed one had put in place.
 */
class Placement {
  private backup: string | undefined
  private isPlaced = false

  constructor(private readonly file: FinishedFile) {}

  /** Without `force` this never replaces a file: a link cannot. There is a file at the target at all times if there was one. */
  async place(): Promise<void> {
    const { temp, target } = this.file
    let result = await tryLink(temp, target)
    if (result === 'unsupported') {
      if ((await findFileId(target)) !== undefined) result = 'exists'
      else await rename(temp, target)
    }
    if (result === 'exists') await this.replace()
    this.isPlaced = true
  }

  private async replace(): Promise<void> {
    const { path, target, temp, force } = this.file
    if (!force) throw outputExists(`${path} was created by another program meanwhile.`)
    if ((await lstat(target)).isDirectory()) throw outputIsFolder(path)
    const [backup, fresh] = [tempSibling(temp, 'bak'), tempSibling(temp, 'new')]
    await linkOrRename(target, backup)
    this.backup = backup
    await linkOrRename(temp, fresh)
    await rename(fresh, target)
  }

  /**
   * Puts back what was there before `place`, also after a failed one, and keeps the temp file. Never throws: returns what it
   * could not do.
   */
  async restore(): Promise<NotRestored | undefined> {
    const { path, target, id } = this.file
    const { backup } = this
    await this.unlinkSibling('new')
    try {
      const found = await findFileId(target)
      const isFree = found === id || found === undefined
      if (isFree && backup !== undefined) await rename(backup, target)
      else if (found === id) await unlink(target)
      else if (!isFree && this.isPlaced) {
        return { path, reason: 'another program replaced it meanwhile', ...(backup && { backup }) }
      }
    } catch (error) {
      const what = backup === undefined ? 'could not be removed again' : 'could not be put back'
      return { path, reason: `${what}: ${describeErrno(error)}`, ...(backup && { backup }) }
    }
    await this.unlinkSibling('bak')
    return undefined
  }

  /** Removes the names beside the target after a commit. Never throws: a later run removes what stays. */
  async clean(): Promise<void> {
    await this.unlinkSibling('bak')
    // The last one: without it a later run would not know what the old file is for.
    await unlink(this.file.temp).catch(() => {})
  }

  private async unlinkSibling(kind: TempKind): Promise<void> {
    if (this.backup !== undefined) await unlink(tempSibling(this.file.temp, kind)).catch(() => {})
  }
}

/** Gives a file a second name, which must be free. */
async function tryLink(from: string, to: string): Promise<'linked' | 'exists' | 'unsupported'> {
  try {
    await link(from, to)
    return 'linked'
  } catch (error) {
    const code = errnoCode(error)
    if (code === 'EEXIST') return 'exists'
    if (NO_LINKS.has(code)) return 'unsupported'
    throw error
  }
}

/** Gives a file another name, a second one where that is possible. Nobody else uses the new name. */
async function linkOrRename(from: string, to: string): Promise<void> {
  if ((await tryLink(from, to)) !== 'linked') await rename(from, to)
}
