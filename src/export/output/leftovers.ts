import { lstat, readdir, realpath, rename, rm, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describeErrno, errnoCode } from '../../fs/errno.js'
import { findFileId } from '../../fs/file-id.js'
import { endedMaker, isMadeBy, isTempName, tempKind, tempSibling } from './temp.js'

/** A target as the user named it, and the file that it names if it is a link. */
interface Place {
  readonly path: string
  readonly target: string
}

/** A temp file of an export that was killed. Long names have a common part, so it may belong to several places. */
interface Leftover {
  readonly path: string
  readonly maker: string
  readonly places: Place[]
}

/**
 * Removes what killed exports left beside targets. Where one had put only some of its files in place, those targets become
 * what they were before it, and a warning names them. Files of running processes and of other machines stay, and those that
 * cannot be removed.
 */
export async function recoverTargets(
  paths: readonly string[],
  warn: (warning: string) => void = () => {},
): Promise<void> {
  const places = await Promise.all(paths.map(async path => ({ path, target: await realpath(path).catch(() => path) })))
  const folders = new Map<string, string[]>()
  for (const folder of new Set(places.map(({ target }) => dirname(target)))) {
    folders.set(folder, (await readdir(folder).catch(() => [])).filter(isTempName))
  }
  const leftovers = findLeftovers(places, folders)
  for (const maker of new Set(leftovers.map(leftover => leftover.maker))) {
    const temps = [...folders].flatMap(([folder, names]) =>
      names.filter(name => isMadeBy(name, maker) && tempKind(name) === 'tmp').map(name => join(folder, name)),
    )
    const recovery = new Recovery(leftovers.filter(leftover => leftover.maker === maker))
    await recovery.run(await hasUnplaced(temps))
    for (const warning of recovery.warnings()) warn(warning)
  }
}

function findLeftovers(places: readonly Place[], folders: ReadonlyMap<string, readonly string[]>): Leftover[] {
  const found = new Map<string, Leftover>()
  for (const place of places) {
    const folder = dirname(place.target)
    for (const name of folders.get(folder) ?? []) {
      const path = join(folder, name)
      const maker = endedMaker(name, place.target)
      if (maker === undefined) continue
      const leftover = found.get(path) ?? { path, maker, places: [] }
      leftover.places.push(place)
      found.set(path, leftover)
    }
  }
  return [...found.values()]
}

/** Whether one of these temp files has no name in its place: only its own, and one on the way there. */
async function hasUnplaced(temps: readonly string[]): Promise<boolean> {
  for (const temp of temps) {
    const links = (await lstat(temp).catch(() => undefined))?.nlink
    const isOnItsWay = (await findId(tempSibling(temp, 'new'))) !== undefined
    if (links === (isOnItsWay ? 2 : 1)) return true
  }
  return false
}

/** Clears up after one killed process. */
class Recovery {
  private readonly restored: string[] = []
  private readonly removed: string[] = []
  private readonly problems: string[] = []

  constructor(private readonly leftovers: readonly Leftover[]) {}

  /** `isPartial`: some files of that export are not in place, so those that are must not stay. */
  async run(isPartial: boolean): Promise<void> {
    const names = new Set(this.leftovers.map(({ path }) => path))
    const settled = new Set<string>()
    for (const { path, places } of this.leftovers.filter(({ path }) => tempKind(path) === 'tmp')) {
      const place = await findPlaced(path, places)
      if (place === undefined) continue
      const backup = tempSibling(path, 'bak')
      // When one cannot be undone, everything stays, so that the next run finds it again.
      if (isPartial && !(await this.undo(place, names.has(backup) ? backup : undefined))) return
      settled.add(backup)
    }
    for (const { path, places } of this.leftovers) {
      const isOpen = tempKind(path) === 'bak' && !settled.has(path)
      if (isOpen && !(await this.settleBackup(path, places))) continue
      await rm(path, { recursive: true, force: true }).catch(() => {})
    }
  }

  /** Makes a target what it was. Returns whether nothing is left to do. */
  private async undo({ path, target }: Place, backup: string | undefined): Promise<boolean> {
    try {
      if (backup === undefined) {
        await unlink(target)
        this.removed.push(path)
      } else {
        await rename(backup, target)
        this.restored.push(path)
      }
      return true
    } catch (error) {
      // Another run has done the same meanwhile.
      if (errnoCode(error) === 'ENOENT') return true
      this.problems.push(`${path} could not be put back as it was before it: ${describeErrno(error)}.`)
      return false
    }
  }

  /** An old file whose target is not known to be the new one. Returns whether it is not needed any more. */
  private async settleBackup(backup: string, places: readonly Place[]): Promise<boolean> {
    if ((await findPlaced(backup, places)) !== undefined) return true
    const missing: Place[] = []
    for (const place of places) if ((await findId(place.target)) === undefined) missing.push(place)
    if (missing.length === 1) return this.undo(missing[0], backup)
    const names = places.map(({ path }) => path).join(' or ')
    this.problems.push(`${backup} is its copy of the old ${names}. Move it back, or remove it.`)
    return false
  }

  warnings(): string[] {
    const { restored, removed, problems } = this
    const texts = [...problems]
    if (removed.length > 0) texts.unshift(`These new files of it were removed: ${removed.join(', ')}.`)
    if (restored.length > 0) texts.unshift(`These files have their old content again: ${restored.join(', ')}.`)
    return texts.length === 0 ? [] : [`An earlier export was killed while it replaced its files. ${texts.join(' ')}`]
  }
}

/** The place that has the same file under its name. */
async function findPlaced(path: string, places: readonly Place[]): Promise<Place | undefined> {
  const id = await findId(path)
  if (id === undefined) return undefined
  for (const place of places) if ((await findId(place.target)) === id) return place
  return undefined
}

function findId(path: string): Promise<string | undefined> {
  return findFileId(path).catch(() => undefined)
}
