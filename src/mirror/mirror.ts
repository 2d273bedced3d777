import { isKlinesError } from '../klines/errors.js'
import { findRules } from '../trees/find-rules.js'
import type { TreeRules } from '../trees/tree-rules.js'
import { MirrorContents } from './mirror-contents.js'
import { MirrorFiles } from './mirror-files.js'
import { MirrorUpkeep } from './mirror-upkeep.js'
import { MirrorWindows } from './mirror-windows.js'
import { MirrorRecord } from './record.js'

/**
 * The file tree on disk: `root/api/klines/...`, with the paths of the URLs. Any number of processes may share it: files are
 * written aside and renamed, and an open file is not affected.
 */
export class Mirror {
  readonly files: MirrorFiles
  /** What the service has said about the windows. A bare tree has none. */
  readonly record: MirrorRecord
  readonly upkeep: MirrorUpkeep
  readonly contents: MirrorContents
  readonly windows: MirrorWindows

  /** `source`: the base address that it is opened for. Default: the one that `mirror.json` says, once it is there. */
  constructor(
    root: string,
    private source?: string,
  ) {
    this.files = new MirrorFiles(root)
    this.record = new MirrorRecord(root, () => this.upkeep.readMeta() !== undefined)
    this.upkeep = new MirrorUpkeep(this.files, this.record)
    this.contents = new MirrorContents(this.files, this.record, this)
    this.windows = new MirrorWindows(this.files, this.record, this.contents, this)
  }

  /** Its folder. */
  get root(): string {
    return this.files.root
  }

  /** The base address that the mirror is opened for, or else the one that `mirror.json` says; undefined for a bare tree. */
  get baseUrl(): string | undefined {
    // Every window asks; the file is read once it is there, because a mirror never changes its source.
    this.source ??= this.findSource()
    return this.source
  }

  /** What is true of trees of its kind. */
  get rules(): TreeRules {
    return findRules(this.baseUrl)
  }

  private findSource(): string | undefined {
    try {
      return this.upkeep.readMeta()?.baseUrl
    } catch (error) {
      // Whoever needs more than the source refuses the layout of another version.
      if (isKlinesError(error, 'mirror_mismatch')) return undefined
      throw error
    }
  }
}
