import { LRUCache } from 'lru-cache'
import type { Warn } from '../../download/sources/window-source.js'
import { type FileSnapshot, type FileVersion, isSameVersion } from '../../fs/read-file.js'
import { decodeInPlace } from '../../klines/batch/window-codec.js'
import { isKlinesError } from '../../klines/errors.js'
import { Kernel } from '../../klines/kernel/kernel.js'
import { parseStartDates, parseSymbols } from '../../klines/lists.js'
import { parseTreePath, type TreeEntry } from '../../klines/paths.js'
import type { WindowRef } from '../../klines/series.js'
import { trimPeriod } from '../../klines/text.js'
import type { Mirror } from '../../mirror/mirror.js'
import { isLate } from '../../trees/window-ends.js'
import { Body } from '../http/body.js'

/** Memory for cached bodies, bytes. */
const CACHE_BYTES = 56 * 1024 * 1024
/** What a cached corrupt file counts for, bytes. */
const CORRUPT_BYTES = 1024

/** A valid file, and the version that it was read from. */
export interface ValidFile {
  readonly state: 'valid'
  readonly body: Body
  readonly version: FileVersion
  readonly final: boolean
  /** The window, if it becomes final as soon as a later one has candles. */
  readonly pendingWindow?: WindowRef | undefined
  /** The state of the record, if that does not have the window as it is: another process may be about to record it. */
  readonly recordState?: number | undefined
}

/** The version of a corrupt file; undefined when even that cannot be read. */
interface CorruptFile {
  readonly state: 'corrupt'
  readonly version: FileVersion | undefined
}

export type CachedFile = ValidFile | CorruptFile

/** Files that the mirror could not store, by path: each counts instead of the mirror's. */
interface UnstoredFiles {
  get(path: string): FileSnapshot | undefined
}

/**
 * The files of a mirror as bodies in memory. A file is opened once and read from that descriptor; its body is valid as long as
 * the file's inode, size, modification time and change time stay the same.
 */
export class FileCache {
  private readonly files = new LRUCache<string, CachedFile>({
    maxSize: CACHE_BYTES,
    sizeCalculation: file => (file.state === 'valid' ? file.body.size : CORRUPT_BYTES),
  })
  /** Paths whose file version was checked in this turn of the event loop. */
  private readonly checked = new Set<string>()
  private readonly kernel = new Kernel()

  /** `warn` is called with each corrupt file, once for each of its versions. */
  constructor(
    private readonly mirror: Mirror,
    private readonly unstored: UnstoredFiles,
    private readonly warn: Warn,
  ) {}

  /** The file at `path`; undefined when it is missing. Throws `mirror_unusable`. */
  get(path: string): CachedFile | undefined {
    const cached = this.files.get(path)
    if (cached && !this.mayBeFinal(cached) && this.isCurrent(path, cached.version)) return cached
    const entry = parseTreePath(path)
    if (!entry) return undefined
    const file = this.read(path, entry)
    if (file) this.files.set(path, file)
    else this.files.delete(path)
    return file
  }

  /** Whether a window may have become final although its file is the same. */
  private mayBeFinal(file: CachedFile): boolean {
    if (file.state !== 'valid') return false
    const { pendingWindow, recordState } = file
    if (pendingWindow && this.mirror.windows.hasLaterCandles(pendingWindow)) return true
    return recordState !== undefined && this.mirror.record.refresh() !== recordState
  }

  /** Checks the version of a file again at its next use. */
  recheck(path: string): void {
    this.checked.delete(path)
  }

  /** Whether the file still has that version. Simultaneous requests share one check, which takes a tenth of their time. */
  private isCurrent(path: string, version: FileVersion | undefined): boolean {
    if (this.checked.has(path)) return true
    if (!isSameVersion(version, this.version(path))) return false
    if (this.checked.size === 0) setImmediate(() => this.checked.clear())
    this.checked.add(path)
    return true
  }

  private version(path: string): FileVersion | undefined {
    return this.unstored.get(path) ?? this.mirror.files.version(path)
  }

  /** Reads and validates a file; undefined when it is missing. */
  private read(path: string, entry: TreeEntry): CachedFile | undefined {
    const unstored = this.unstored.get(path)
    // Before the file is read: if it is replaced meanwhile, it is read again.
    const version = this.version(path)
    const file = unstored ?? this.mirror.files.read(path)
    if (file.state === 'missing') return undefined
    if (file.state === 'corrupt') return this.corrupt(path, version, file.reason)
    if (!unstored && !this.mirror.files.isInside(path))
      return this.corrupt(path, version, 'below a link that leads elsewhere')
    try {
      return this.validate(path, entry, file)
    } catch (error) {
      // Only content is corrupt.
      if (!isKlinesError(error, 'bad_window') && !isKlinesError(error, 'bad_list')) throw error
      return this.corrupt(path, file, error.message)
    }
  }

  /** Throws `bad_window` and `bad_list`. */
  private validate(path: string, entry: TreeEntry, file: FileSnapshot): ValidFile {
    const { bytes } = file
    if (entry.kind === 'startDates') parseStartDates(bytes, entry.interval)
    if (entry.kind === 'symbols') parseSymbols(bytes)
    const { mtimeMs, final, ...pending } =
      entry.kind === 'window' ? this.inspect(path, entry.window, file) : { mtimeMs: file.mtimeMs, final: false }
    const body = new Body(bytes, { mtimeMs, final, onGrowth: grown => this.measureAgain(path, grown) })
    return { state: 'valid', body, version: file, final, ...pending }
  }

  /** What is known of a window beside its bytes: when it was last modified (ms UTC), and whether it is final or may become so. */
  private inspect(path: string, window: WindowRef, file: FileSnapshot) {
    const { mirror } = this
    const batch = decodeInPlace(file.bytes, window, this.kernel, mirror.windows.gridAnchor(window))
    const isUnstored = this.unstored.get(path) === file
    const times = isUnstored ? { time: file.mtimeMs, confirmed: file.mtimeMs } : mirror.windows.timesOf(window, file)
    const final = mirror.windows.isFinal(window, batch, times)
    const isPending = !final && times !== undefined && isLate(window, mirror.windows.renderedTime(times))
    const pendingWindow = isPending ? window : undefined
    const mtimeMs = mirror.windows.lastModified(window, batch, file, times)
    const recordState = final || times ? undefined : mirror.record.refresh()
    return { mtimeMs, final, pendingWindow, recordState }
  }

  /** The cache takes the size of a file when it is added. */
  private measureAgain(path: string, body: Body): void {
    const file = this.files.get(path)
    if (file?.state !== 'valid' || file.body !== body) return
    this.files.delete(path)
    this.files.set(path, file)
  }

  private corrupt(path: string, version: FileVersion | undefined, reason: string): CorruptFile {
    this.warn(`Corrupt in the mirror ${this.mirror.root}, so not served: ${path}: ${trimPeriod(reason)}.`)
    return { state: 'corrupt', version }
  }
}
