import { lstat, mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { fileId } from '../../fs/file-id.js'
import { KlinesError } from '../../klines/errors.js'
import { tempPath } from './temp.js'

/**
 * Checks that targets are different files, whatever their names: links, hard links, links to folders, and names that a file
 * system without upper and lower case takes for one. Throws `bad_output`. A path that cannot be a file is left to `checkTarget`.
 */
export async function checkDistinct(paths: readonly string[]): Promise<void> {
  if (paths.length < 2) return
  const seen = new Map<string, string>()
  const folders = new Map<string, boolean>()
  const claim = (key: string, path: string) => {
    const other = seen.get(key)
    if (other !== undefined) throw sameFile(other, path)
    seen.set(key, path)
  }
  for (const path of paths) {
    const id = await findTargetId(path)
    if (id !== undefined) {
      claim(id, path)
      continue
    }
    const folder = (await findTargetId(dirname(path))) ?? (await findFolderKey(resolve(dirname(path))))
    claim(join(folder, basename(path)), path)
    const key = `${folder}//${basename(path).normalize('NFC').toLowerCase()}`
    const other = seen.get(key)
    if (other === undefined) {
      seen.set(key, path)
      continue
    }
    // One answer holds for all names in a folder.
    const isOne = folders.get(folder) ?? (await areOneName(dirname(path), basename(other), basename(path)))
    folders.set(folder, isOne)
    if (isOne) throw sameFile(other, path)
  }
}

/** The id of an existing target; for a link, of what it names. */
async function findTargetId(path: string): Promise<string | undefined> {
  const stats = await stat(path, { bigint: true }).catch(() => undefined)
  return stats && fileId(stats)
}

/** What stands for a missing folder: the id of the nearest one above it, and the rest of its path. */
async function findFolderKey(path: string): Promise<string> {
  const id = await findTargetId(path)
  if (id !== undefined || dirname(path) === path) return id ?? path
  return join(await findFolderKey(dirname(path)), basename(path))
}

/** Whether the file system takes two names in a folder for one. Only trying tells, in a hidden folder that is removed again. */
async function areOneName(folder: string, name: string, other: string): Promise<boolean> {
  const probe = tempPath(join(folder, name))
  try {
    await mkdir(probe)
    await writeFile(join(probe, name), '')
    await lstat(join(probe, other))
    return true
  } catch {
    // Also when the folder cannot be written, which `checkTarget` reports.
    return false
  } finally {
    await rm(probe, { recursive: true, force: true }).catch(() => {})
  }
}

function sameFile(path: string, other: string): KlinesError {
  return new KlinesError(
    'bad_output',
    `${path} and ${other} are the same file, which would get the candles of only one of them.`,
    {
      suggestions: ['Remove the link between them, or name the files otherwise.'],
      data: { outputs: [path, other] },
    },
  )
}
