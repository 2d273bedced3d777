import { link, lstat, rename, unlink } from 'node:fs/promises'
import { describeErrno, errnoCode } from '../../fs/errno.js'
import { findFileId } from '../../fs/file-id.js'
import { outputExists, outputIsFolder } from './errors.js'
import { type TempKind, tempSibling } from './temp.js'

/** What link(2) says where the file system, or its protection of other users' files, does not allow a hard link. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** A complete file beside its place. */
export interface FinishedFile {
  /** The output as the user named it. */
  readonly path: string
  /** Where it goes: `path`, or the file that a link there names. */
  readonly target: string
  readonly temp: string
  /** The `fileId` of `temp`. */
  readonly id: string
  /** Replaces a file that is there. */
  readonly force: boolean
}

/** An output that is not as it was before a failed commit. */
export interface NotRestored {
  readonly path: string
  readonly reason: string
  /** Where its old file is, if there was one. */
  readonly backup?: string
}

/**
 * Puts one file in its place and can put back what was there. Until `clean` the temp file stays as a second name of the new
 * file, and so does the old file: they tell a later run which files a killed one had put in place.
 */
export class Placement {
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
