import { checkWritableFolder, makeFolder } from '../fs/make-folder.js'
import { KlinesError } from '../klines/errors.js'
import { findRules } from '../trees/find-rules.js'
import { listFolder, sweepTemps, writeFile } from './file-store.js'
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
        writeFile(root, META_FILE, encodeMeta(baseUrl), now, { sync: true })
      sweepTemps(root, now)
    })
  }
}
