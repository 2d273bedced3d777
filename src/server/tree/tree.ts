import { LRUCache } from 'lru-cache'
import { borrowWindow } from '../../klines/batch/window-codec.js'
import { KlinesError } from '../../klines/errors.js'
import { Kernel } from '../../klines/kernel/kernel.js'
import { parseStartDates, parseSymbols } from '../../klines/lists.js'
import { parseTreePath, type TreeEntry } from '../../klines/paths.js'
import type { WindowRef } from '../../klines/series.js'
import { SYMBOLS } from '../../klines/symbols.js'
import { knownStartDates, windowSpan } from '../../klines/windows.js'
import type { FileVersion } from '../../mirror/file-store.js'
import { isLate } from '../../mirror/finality.js'
import type { Mirror } from '../../mirror/mirror.js'
import { Body } from '../http/body.js'
import { HttpError } from '../http/error.js'
import type { Upstream } from './upstream.js'

/** Memory for cached bodies, bytes. */
const CACHE_BYTES = 56 * 1024 * 1024

const EMPTY_WINDOW = new Body(Buffer.from('[]'))

/** A file of the served tree. */
export interface TreeFile {
  readonly body: Body
  /** Why this may not be the current version: revalidation with the service failed. */
  readonly warning?: HttpError
}

/** A body in memory and the file version it was read from. */
interface CachedBody {
  readonly body: Body
  readonly version: FileVersion
  readonly final: boolean
  /** The window, if it becomes final as soon as a later one has candles. */
  readonly pendingWindow?: WindowRef | undefined
}

/**
 * The file tree that a server serves: the mirror's files at valid paths, the lists (built-in ones where the mirror has
 * none), and windows that are known to be empty. A file is opened once and read from that descriptor; a body in memory is
 * valid as long as the file's inode, size and modification time stay the same.
 */
export class Tree {
  private readonly cache = new LRUCache<string, CachedBody>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ body }) => body.size,
  })
  /** Paths whose file version was checked in this turn of the event loop. */
  private readonly checked = new Set<string>()
  private readonly builtIn = new Map<string, Body>()
  private readonly kernel = new Kernel()

  constructor(
    readonly mirror: Mirror,
    private readonly now: () => number = Date.now,
    private readonly upstream?: Upstream,
  ) {}

  /**
   * The file at `path` (`api/klines/...`). A missing window is `[]` only when that is certain: it starts in the future, or
   * the mirror is complete. Returns a promise only when the service has to be requested. Throws `HttpError` 404.
   */
  file(path: string): TreeFile | Promise<TreeFile> {
    const cached = this.cachedFile(path)
    if (cached && (cached.final || !this.upstream)) return cached
    const entry = parseTreePath(path)
    if (!entry) throw new HttpError(404, 'There is no such file in the tree of klines.')
    if (!cached && isFuture(entry, this.now())) return { body: EMPTY_WINDOW }
    return this.upstream ? this.revalidate(path, entry, this.upstream) : { body: this.fallbackBody(path, entry) }
  }

  /** Revalidates a file with the service; when that fails, returns the cached one with a warning. */
  private async revalidate(path: string, entry: TreeEntry, upstream: Upstream): Promise<TreeFile> {
    try {
      await upstream.fetch(path, entry).finally(() => this.checked.delete(path))
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      const body = this.cachedFile(path)?.body ?? (entry.kind === 'window' ? undefined : this.builtInList(path, entry))
      if (!body) throw error
      return { body, warning: error }
    }
    return this.cachedFile(path) ?? { body: this.fallbackBody(path, entry) }
  }

  /** A valid file of the mirror, from memory while its version is current. */
  private cachedFile(path: string): CachedBody | undefined {
    const cached = this.cache.get(path)
    const isUnchanged = !cached?.pendingWindow || !this.mirror.hasLaterCandles(cached.pendingWindow)
    if (cached && isUnchanged && this.isCurrent(path, cached.version)) return cached
    const entry = parseTreePath(path)
    if (!entry) return undefined
    const file = this.read(path, entry)
    if (file) this.cache.set(path, file)
    else this.cache.delete(path)
    return file
  }

  /** Whether the file still has that version. Simultaneous requests share one check, which takes a tenth of their time. */
  private isCurrent(path: string, version: FileVersion): boolean {
    if (this.checked.has(path)) return true
    if (!isSame(version, this.mirror.version(path))) return false
    if (this.checked.size === 0) setImmediate(() => this.checked.clear())
    this.checked.add(path)
    return true
  }

  /** Reads and validates a file of the mirror; undefined when it is missing or corrupt. */
  private read(path: string, entry: TreeEntry): CachedBody | undefined {
    const file = this.mirror.readBytes(path)
    if (file.state !== 'file' || !this.mirror.isInside(path)) return undefined
    const { bytes, mtimeMs } = file
    try {
      const final = entry.kind === 'window' && this.isFinal(entry, bytes, mtimeMs)
      if (entry.kind === 'startDates') parseStartDates(bytes, entry.interval)
      if (entry.kind === 'symbols') parseSymbols(bytes)
      const isPending = entry.kind === 'window' && !final && isLate(entry.window, mtimeMs)
      const pendingWindow = isPending ? entry.window : undefined
      return { body: new Body(bytes, { mtimeMs, final }), version: file, final, pendingWindow }
    } catch (error) {
      if (error instanceof KlinesError) return undefined
      throw error
    }
  }

  private isFinal({ window }: TreeEntry & { kind: 'window' }, bytes: Buffer, mtimeMs: number): boolean {
    return this.mirror.isFinal(window, borrowWindow(bytes, window, this.kernel), mtimeMs)
  }

  /** The body for a path without a file. */
  private fallbackBody(path: string, entry: TreeEntry): Body {
    if (entry.kind !== 'window') return this.builtInList(path, entry)
    if (this.mirror.readMeta()?.complete) return EMPTY_WINDOW
    throw new HttpError(404, 'This window is not in the mirror.')
  }

  private builtInList(path: string, entry: TreeEntry & { kind: 'symbols' | 'startDates' }): Body {
    const list = entry.kind === 'symbols' ? SYMBOLS : knownStartDates(entry.interval)
    const body = this.builtIn.get(path) ?? new Body(Buffer.from(JSON.stringify(list)))
    this.builtIn.set(path, body)
    return body
  }
}

function isFuture(entry: TreeEntry, now: number): boolean {
  return entry.kind === 'window' && windowSpan(entry.window).startTime > now
}

function isSame(a: FileVersion, b: FileVersion | undefined): boolean {
  return a.ino === b?.ino && a.size === b.size && a.mtimeMs === b.mtimeMs
}
