import { join } from 'node:path'
import { isDiskFull } from '../fs/errno.js'
import { checkWritableFolder, makeFolder } from '../fs/make-folder.js'
import { isKlinesError, KlinesError } from '../klines/errors.js'
import { findRules } from '../trees/find-rules.js'
import { listFolder, removeSynced, sweepTemps, writeFile } from './file-store.js'
import { CACHE_TAG, CACHE_TAG_FILE, encodeMeta, META_FILE, type MirrorMeta, readMeta } from './meta.js'
import type { MirrorFiles } from './mirror-files.js'
import type { MirrorRecord } from './record.js'

/** What keeps a mirror one that others can use: `mirror.json`, and no temp files. */
export class MirrorUpkeep {
  constructor(
    private readonly files: MirrorFiles,
    private readonly record: MirrorRecord,
  ) {}

  /**
   * Reads `mirror.json`; undefined for a bare tree, whose source is unknown, and with a warning when the file is unreadable.
   * Throws `mirror_mismatch` for the layout of another version.
   */
  readMeta(warn?: (warning: string) => void): MirrorMeta | undefined {
    return readMeta(this.files.root, warn)
  }

  /** Writes into `mirror.json`, once it is there, whether the mirror is complete. Throws `mirror_unusable`. */
  setComplete(complete: boolean, now: number): void {
    const meta = this.readMeta()
    if (!meta || meta.complete === complete) return
    const bytes = encodeMeta(meta.baseUrl, complete)
    this.files.writing(() => writeFile(this.files.root, META_FILE, bytes, now, { sync: true }))
  }

  /**
   * Says in `mirror.json` that the mirror is not complete, before a file of it goes: a removal that stops half way must not leave
   * windows that count as empty. A full disk cannot take another version of that file: then it goes. Throws `mirror_unusable`.
   */
  giveUpCompleteness(now: number): void {
    try {
      this.setComplete(false, now)
    } catch (error) {
      if (!isKlinesError(error, 'mirror_unusable') || !isDiskFull(error.cause)) throw error
      this.files.writing(() => removeSynced(join(this.files.root, META_FILE)))
    }
  }

  /** Throws `mirror_mismatch` when this is a mirror of another base address. */
  checkBase(baseUrl: string): void {
    const meta = this.readMeta()
    if (!meta || meta.baseUrl === baseUrl) return
    const { root } = this.files
    throw new KlinesError('mirror_mismatch', `${root} is a mirror of ${meta.baseUrl}, not of ${baseUrl}.`, {
      suggestions: [`Name another folder with \`mirror\`, or that address with \`baseUrl: '${meta.baseUrl}'\`.`],
      data: { mirror: root, mirrorBaseUrl: meta.baseUrl, baseUrl },
    })
  }

  /**
   * Checks that files of `baseUrl` can be stored here, and removes the leftover temp files. Creates nothing. Throws
   * `mirror_mismatch`, and `mirror_unusable` when the folder could not become a mirror.
   */
  checkWritable(baseUrl: string, now: number): void {
    const { root } = this.files
    this.checkBase(baseUrl)
    this.files.writing(() => {
      sweepTemps(root, now)
      if (this.readMeta() === undefined) checkWritableFolder(root)
    })
  }

  /**
   * Makes the folder a mirror of `baseUrl` unless it is one already, gives it the layout of this version, and removes leftover temp
   * files. Throws `mirror_mismatch` and `mirror_unusable`.
   */
  prepare(baseUrl: string, now: number): void {
    const { root } = this.files
    this.checkBase(baseUrl)
    this.files.writing(() => {
      const isEmpty = listFolder(root).length === 0
      makeFolder(root)
      if (isEmpty) writeFile(root, CACHE_TAG_FILE, Buffer.from(CACHE_TAG), now)
      const meta = this.readMeta()
      // What is left of another mirror.
      if (meta === undefined) this.record.remove()
      if (meta === undefined || meta.layout < findRules(baseUrl).layout)
        writeFile(root, META_FILE, encodeMeta(baseUrl, meta?.complete), now, { sync: true })
      sweepTemps(root, now)
    })
  }
}
