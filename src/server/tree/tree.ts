import { LRUCache } from 'lru-cache'
import { decodeWindow } from '../../klines/batch/window-codec.js'
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

/** Memory for bodies, bytes. */
const CACHE_BYTES = 56 * 1024 * 1024

const EMPTY_WINDOW = new Body(Buffer.from('[]'))

/** What the tree has at a path. */
export interface TreeFile {
  readonly body: Body
  /** Why this may not be the present version: the service behind the server could not be asked. */
  readonly warning?: HttpError
}

/** A body in memory and the version of the file it is of. */
interface Cached {
  readonly body: Body
  readonly version: FileVersion
  readonly final: boolean
  /** The window itself, where it becomes final as soon as a later one holds candles. */
  readonly waiting?: WindowRef | undefined
}

/**
 * The file tree that a server serves: a mirror's files by grammar, the lists always (built in where the mirror has none),
 * and what follows from rules. A file is opened once and read from that descriptor; a body in memory is good for as long as
 * inode, size and time of the file are the same.
 */
export class Tree {
  private readonly cache = new LRUCache<string, Cached>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ body }) => body.size,
  })
  /** Files looked at since the event loop last came round. */
  private readonly checked = new Set<string>()
  private readonly builtIn = new Map<string, Body>()
  private readonly kernel = new Kernel()

  constructor(
    readonly mirror: Mirror,
    private readonly now: () => number = Date.now,
    private readonly upstream?: Upstream,
  ) {}

  /**
   * The file at `path` (`api/klines/...`). A window that is not held is `[]` only when that is certain: it starts in the
   * future, or the mirror is complete. Throws an `HttpError` where there is nothing.
   */
  file(path: string): TreeFile | Promise<TreeFile> {
    const ready = this.ready(path)
    if (ready) return ready
    const entry = parseTreePath(path)
    if (!entry) throw new HttpError(404, 'There is no such file in the tree of klines.')
    if (!this.cachedFile(path) && isFuture(entry, this.now())) return { body: EMPTY_WINDOW }
    return this.upstream ? this.fresh(path, entry, this.upstream) : { body: this.fallbackBody(path, entry) }
  }

  /** The file at `path` where it is held and no other has to be asked: the same object for as long as it is the same file. */
  ready(path: string): TreeFile | undefined {
    const cachedFile = this.cachedFile(path)
    return cachedFile && (cachedFile.final || !this.upstream) ? cachedFile : undefined
  }

  /** What the service has now, through the mirror; what is held, with a warning, when the service cannot be asked. */
  private async fresh(path: string, entry: TreeEntry, upstream: Upstream): Promise<TreeFile> {
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

  /** A sound file of the mirror. */
  private cachedFile(path: string): Cached | undefined {
    const cached = this.cache.get(path)
    const isAsBefore = !cached?.waiting || !this.mirror.isFollowed(cached.waiting)
    if (cached && isAsBefore && this.isCurrent(path, cached.version)) return cached
    const entry = parseTreePath(path)
    if (!entry) return undefined
    const read = this.read(path, entry)
    if (read) this.cache.set(path, read)
    else this.cache.delete(path)
    return read
  }

  /** Whether a file is still that version. Requests that came in together share one look: it is a tenth of their time. */
  private isCurrent(path: string, version: FileVersion): boolean {
    if (this.checked.has(path)) return true
    if (!isSame(version, this.mirror.version(path))) return false
    if (this.checked.size === 0) setImmediate(() => this.checked.clear())
    this.checked.add(path)
    return true
  }

  /** A file of the mirror, checked: a broken one counts as absent. */
  private read(path: string, entry: TreeEntry): Cached | undefined {
    const file = this.mirror.readBytes(path)
    if (file.state !== 'file' || !this.mirror.contains(path)) return undefined
    const { bytes, mtimeMs } = file
    try {
      const final = entry.kind === 'window' && this.isFinal(entry, bytes, mtimeMs)
      if (entry.kind === 'startDates') parseStartDates(bytes, entry.interval)
      if (entry.kind === 'symbols') parseSymbols(bytes)
      const waits = entry.kind === 'window' && !final && isLate(entry.window, mtimeMs)
      const waiting = waits ? entry.window : undefined
      return { body: new Body(bytes, { mtimeMs, final }), version: file, final, waiting }
    } catch (error) {
      if (error instanceof KlinesError) return undefined
      throw error
    }
  }

  private isFinal({ window }: TreeEntry & { kind: 'window' }, bytes: Buffer, mtimeMs: number): boolean {
    return this.mirror.isFinal(window, decodeWindow(bytes, window, this.kernel), mtimeMs)
  }

  /** What there is without a file. */
  private fallbackBody(path: string, entry: TreeEntry): Body {
    if (entry.kind !== 'window') return this.builtInList(path, entry)
    if (this.mirror.readMeta()?.complete) return EMPTY_WINDOW
    throw new HttpError(404, 'This window is not in the mirror.')
  }

  private builtInList(path: string, entry: TreeEntry & { kind: 'symbols' | 'startDates' }): Body {
    const list = entry.kind === 'symbols' ? SYMBOLS : knownStartDates(entry.interval)
    const made = this.builtIn.get(path) ?? new Body(Buffer.from(JSON.stringify(list)))
    this.builtIn.set(path, made)
    return made
  }
}

function isFuture(entry: TreeEntry, now: number): boolean {
  return entry.kind === 'window' && windowSpan(entry.window).startTime > now
}

function isSame(one: FileVersion, other: FileVersion | undefined): boolean {
  return one.ino === other?.ino && one.size === other.size && one.mtimeMs === other.mtimeMs
}
