import { realpath, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../../fs/make-folder.js'

/** The folders that a run makes for an output, and removes again when nothing gets there. */
export class MadeFolders {
  /** The folder, and the one that the topmost made one is in. */
  private made: { readonly folder: string; readonly above: string } | undefined

  /** Makes a folder and its parents where they are missing. Throws what the file system throws. */
  async make(path: string): Promise<void> {
    const first = makeFolder(path)
    if (first !== undefined) this.made = { folder: await realpath(path), above: dirname(await realpath(first)) }
  }

  /** Removes the folders that were made, as far as they are empty. Never throws. */
  async remove(): Promise<void> {
    if (this.made === undefined) return
    const { folder, above } = this.made
    try {
      for (let path = folder; path !== above; path = dirname(path)) await rmdir(path)
    } catch {
      // Something else is in it by now.
    }
  }
}
