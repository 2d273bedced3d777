import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { toMirrorError } from './errors.js'
import { type Allocate, type FileRead, type FileVersion, readFile, setTime, statPath, writeFile } from './file-store.js'
import { refuseMirrorLinks, type WrittenSeries } from './links.js'
import { findLeftoverTemps, removeTemps } from './temps.js'

/** The errors of a path that leads nowhere. */
const NOT_THERE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP'])

/** The files of a mirror by their paths, whatever is in them. */
export class MirrorFiles {
  constructor(readonly root: string) {}

  /** Whether the mirror has a tree. */
  get exists(): boolean {
    return existsSync(join(this.root, 'api', 'klines'))
  }

  /** Reads a file of the tree (`api/klines/...`). Throws `mirror_unusable`. */
  readBytes(path: string): FileRead {
    return this.reading(() => this.readFile(path), path)
  }

  /** The present version of a file of the tree, links not followed; undefined when it is missing. */
  version(path: string): FileVersion | undefined {
    return this.reading(() => statPath(join(this.root, path)), path)
  }

  /** Whether the folder of a file is inside the mirror after links are followed. Throws `mirror_unusable`. */
  isInside(path: string): boolean {
    try {
      const root = realpathSync.native(this.root)
      const folder = realpathSync.native(dirname(join(this.root, path)))
      return folder === root || folder.startsWith(root + sep)
    } catch (error) {
      // What cannot be looked at is not elsewhere.
      if (NOT_THERE.has((error as NodeJS.ErrnoException).code ?? '')) return false
      throw toMirrorError(error, 'read', this.root, path)
    }
  }

  /** Throws `linked_path` for a link where a run that writes `series` might write, and `mirror_unusable`. */
  refuseLinks(series?: WrittenSeries): void {
    this.reading(() => refuseMirrorLinks(this.root, series))
  }

  /** Stores a file of the tree, whole or not at all. Throws `mirror_unusable`, and `linked_path` where that is through a link. */
  writeBytes(path: string, bytes: Uint8Array, mtimeMs: number): void {
    this.writing(() => writeFile(this.root, path, bytes, mtimeMs))
  }

  /** Sets the modification time of a file of the tree, ms; one that is reached through a link stays. Throws `mirror_unusable`. */
  setTime(path: string, mtimeMs: number): void {
    if (this.isInside(path)) this.writing(() => setTime(join(this.root, path), mtimeMs))
  }

  /** The temp files of dead processes, relative to the root. */
  leftoverTemps(now: number): string[] {
    return this.reading(() => findLeftoverTemps(this.root, now))
  }

  /** Removes the temp files of dead processes, also those beside files of the tree. Throws `mirror_unusable` and `linked_path`. */
  removeTemps(now: number): void {
    this.writing(() => removeTemps(this.root, findLeftoverTemps(this.root, now)))
  }

  /** Throws `mirror_unusable` for faults of the file system. `path`: the file that is read, relative to the root. */
  protected reading<T>(action: () => T, path?: string): T {
    try {
      return action()
    } catch (error) {
      throw toMirrorError(error, 'read', this.root, path)
    }
  }

  /** The same for an action that writes. */
  protected writing(action: () => void): void {
    try {
      action()
    } catch (error) {
      throw toMirrorError(error, 'write', this.root)
    }
  }

  /** Without a tree every file is missing, also below a root that is a file. */
  protected readFile(path: string, allocate?: Allocate): FileRead {
    const file = readFile(join(this.root, path), allocate)
    return file.state === 'corrupt' && !this.exists ? { state: 'missing' } : file
  }
}
