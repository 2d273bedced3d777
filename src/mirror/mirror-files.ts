import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { errnoCode } from '../fs/errno.js'
import { type Allocate, type FileRead, type FileVersion, readFile } from '../fs/read-file.js'
import { toMirrorError } from './errors.js'
import { hasName, listFolder, MAX_FILE_BYTES, setTime, statPath, writeFile } from './file-store.js'

/** The errors of a path that leads nowhere. */
const NOT_THERE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP'])

/** The files of a mirror by their paths (`api/klines/...`), whatever is in them. */
export class MirrorFiles {
  constructor(readonly root: string) {}

  /** Whether the mirror has a tree. */
  get exists(): boolean {
    return existsSync(join(this.root, 'api', 'klines'))
  }

  /**
   * Reads a file of the tree, into the memory of `allocate` if that is given. Without a tree every file is missing, also below a root
   * that is a file. Throws `mirror_unusable`.
   */
  read(path: string, allocate?: Allocate): FileRead {
    return this.reading(() => {
      const file = readFile(join(this.root, path), MAX_FILE_BYTES, allocate)
      return file.state === 'corrupt' && !this.exists ? { state: 'missing' } : file
    }, path)
  }

  /** The present version of a file of the tree, links not followed; undefined when it is missing. */
  version(path: string): FileVersion | undefined {
    return this.reading(() => statPath(join(this.root, path)), path)
  }

  /** Size of a file, bytes; 0 when it is missing. */
  size(path: string): number {
    return this.reading(() => statSync(join(this.root, path), { throwIfNoEntry: false })?.size ?? 0, path)
  }

  /** The names in a folder, sorted; none when it is missing. */
  names(path: string): string[] {
    return this.reading(() => listFolder(join(this.root, path)))
  }

  /** Whether a folder has a wanted name. Reads no more names than it takes. */
  hasName(path: string, isWanted: (name: string) => boolean): boolean {
    return this.reading(() => hasName(join(this.root, path), isWanted))
  }

  /** Modification time of a folder, ms: a new file in it changes it. Undefined when it is missing. */
  folderTime(path: string): number | undefined {
    // `/.` follows a linked folder, whose own time never changes.
    return this.reading(() => statPath(`${join(this.root, path)}/.`)?.mtimeMs)
  }

  /** Whether the folder of a file is inside the mirror after links are followed. Throws `mirror_unusable`. */
  isInside(path: string): boolean {
    try {
      const root = realpathSync.native(this.root)
      const folder = realpathSync.native(dirname(join(this.root, path)))
      return folder === root || folder.startsWith(root + sep)
    } catch (error) {
      // What cannot be looked at is not elsewhere.
      if (NOT_THERE.has(errnoCode(error))) return false
      throw toMirrorError(error, 'read', this.root, path)
    }
  }

  /** Stores a file of the tree, whole or not at all. Throws `mirror_unusable`, and `linked_path` where that is through a link. */
  write(path: string, bytes: Uint8Array, mtimeMs: number): void {
    this.writing(() => writeFile(this.root, path, bytes, mtimeMs))
  }

  /** Sets the modification time of a file of the tree, ms; one that is reached through a link stays. Throws `mirror_unusable`. */
  setTime(path: string, mtimeMs: number): void {
    if (this.isInside(path)) this.writing(() => setTime(join(this.root, path), mtimeMs))
  }

  /** Throws `mirror_unusable` for faults of the file system. `path`: the file that is read, relative to the root. */
  reading<T>(action: () => T, path?: string): T {
    try {
      return action()
    } catch (error) {
      throw toMirrorError(error, 'read', this.root, path)
    }
  }

  /** The same for an action that writes. */
  writing(action: () => void): void {
    try {
      action()
    } catch (error) {
      throw toMirrorError(error, 'write', this.root)
    }
  }
}
