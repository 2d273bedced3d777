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
    const place = await findPlace(path)
    claim(join(place.id, ...place.names), path)
    const key = `${place.id}//${fold(place.names.join('/'))}`
    const other = seen.get(key)
    if (other === undefined) {
      seen.set(key, path)
      continue
    }
    // One answer holds for all names in a folder, and in the folders that will be made in it.
    const { names } = await findPlace(other)
    const differing = names.findIndex((name, index) => name !== place.names[index])
    const isOne = folders.get(place.id) ?? (await areOneName(place.folder, names[differing], place.names[differing]))
    folders.set(place.id, isOne)
    if (isOne) throw sameFile(other, path)
  }
}

/** The id of an existing target; for a link, of what it names. */
async function findTargetId(path: string): Promise<string | undefined> {
  const stats = await stat(path, { bigint: true }).catch(() => undefined)
  return stats && fileId(stats)
}

/** Where a new file will be: the nearest folder that exists, its id, and the names below it that will be made. */
interface Place {
  readonly folder: string
  readonly id: string
  readonly names: readonly string[]
}

async function findPlace(path: string): Promise<Place> {
  const names = [basename(path)]
  let folder = dirname(path)
  // `..` after a missing folder only counts as a part of the path.
  if ((await findTargetId(folder)) === undefined) folder = resolve(folder)
  for (;;) {
    const id = (await findTargetId(folder)) ?? (folder === dirname(folder) ? folder : undefined)
    if (id !== undefined) return { folder, id, names }
    names.unshift(basename(folder))
    folder = dirname(folder)
  }
}

/** Names that some file systems take for one have one folded form. */
function fold(name: string): string {
  return name.normalize('NFC').toLowerCase()
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
  const [name, otherName] = [path, other].map(each => resolve(each))
  const isFolded = name !== otherName && fold(name) === fold(otherName)
  return new KlinesError(
    'bad_output',
    `${path} and ${other} are the same file, which would get the candles of only one of them.`,
    {
      suggestions: [
        isFolded
          ? 'Their names differ only in case or Unicode form, which this disk does not tell apart. Give each an export with an `output` of its own.'
          : 'Remove the link between them, or name the files otherwise.',
      ],
      data: { outputs: [path, other] },
    },
  )
}
