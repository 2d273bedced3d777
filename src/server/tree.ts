import { LRUCache } from 'lru-cache'
import { isKlinesError } from '../candles/errors.js'
import { isMinutes } from '../candles/intervals.js'
import { parseStartDates, parseSymbols } from '../candles/lists.js'
import { parseTreePath, type TreeEntry } from '../candles/paths.js'
import type { WindowRef } from '../candles/series.js'
import { trimPeriod } from '../candles/text.js'
import { windowSpan } from '../candles/windows.js'
import { type FileVersion, isSameVersion } from '../fs/files.js'
import { lastModified } from '../mirror/mirror.js'
import { laterSince } from '../mirror/series-index.js'
import { knownDates, knownSymbols } from '../mirror/status.js'
import type { WindowFacts } from '../mirror/window-state.js'
import { Kernel } from '../rows/wasm/kernel.js'
import { Body } from './body.js'
import { HttpError } from './errors.js'
import type { ServedMirror } from './served-mirror.js'
import type { ListEntry, Upstream } from './upstream.js'

const EMPTY_WINDOW = new Body(Buffer.from('[]'))
/** Memory for cached bodies, bytes. */
const CACHE_BYTES = 56 * 1024 * 1024

/** A file of the served tree. */
export interface TreeFile {
  readonly body: Body
  /** Why this may not be the current version: revalidation with the service failed. */
  readonly warning?: HttpError | undefined
}

/** A file of the mirror in memory: its body, or why it is corrupt. */
interface CachedFile {
  readonly version: FileVersion | undefined
  readonly body?: Body
  readonly final?: boolean
  /** What was known of an open window: it may become final without its file changing. */
  readonly known?: {
    readonly window: WindowRef
    readonly facts: WindowFacts | undefined
    readonly since: number | undefined
  }
  readonly corrupt?: string
}

/**
 * The file tree that a server serves: the mirror's files at valid paths, as bodies in memory; the lists, computed where the mirror has none;
 * and windows of the future, which are empty. With a service behind it, what is missing or can still change is fetched first.
 */
export class Tree {
  private readonly files = new LRUCache<string, CachedFile>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ body }) => body?.size ?? 1024,
  })
  /** Paths whose file version was checked in this turn of the event loop. */
  private readonly checked = new Set<string>()
  private readonly kernel = new Kernel()

  constructor(
    readonly mirror: ServedMirror,
    readonly upstream: Upstream | undefined,
    readonly now: () => number,
    /** Called with each corrupt file that is not served. */
    private readonly warn: (warning: string) => void,
  ) {}

  /**
   * The file at `path` (`api/klines/...`). Returns a promise only when the service is asked, which a page of another site must not cause:
   * then `mayAsk` is false. Throws `HttpError` 404, and what `Upstream` throws.
   */
  file(path: string, mayAsk: boolean): TreeFile | Promise<TreeFile> {
    const cached = this.get(path)
    const upstream = mayAsk ? this.upstream : undefined
    if (cached?.body && (cached.final || !upstream)) return { body: cached.body }
    const entry = parseTreePath(path)
    if (!entry) throw noSuchFile()
    if (entry.kind !== 'window') return this.list(path, entry, upstream)
    const { window } = entry
    if (upstream) return this.current(path, window, upstream)
    const { intervals } = this.mirror
    const isPossible = !isMinutes(window.interval) || intervals.includes(window.interval)
    if (!cached && !(isPossible && this.mirror.knows(window.symbol))) throw noSuchFile()
    return { body: this.stored(path, window) }
  }

  /** A window as the service has it now; the cached one with a warning where it cannot be asked. */
  private async current(path: string, window: WindowRef, upstream: Upstream): Promise<TreeFile> {
    const cached = this.get(path)
    if (!cached && !(await upstream.knows(window.symbol))) throw noSuchFile()
    // Never requested: a published tree has files of the future, which are not final.
    const isNeeded = cached?.corrupt !== undefined || windowSpan(window).startTime <= this.now()
    let warning: HttpError | undefined
    try {
      if (isNeeded) await upstream.refresh(window).finally(() => this.checked.delete(path))
    } catch (error) {
      if (!(error instanceof HttpError) || !this.get(path)?.body) throw error
      warning = error
    }
    return { body: this.stored(path, window), warning }
  }

  /** The body of a valid window, and `[]` for one that is certainly empty. A corrupt one never is. */
  private stored(path: string, window: WindowRef): Body {
    const file = this.get(path)
    if (file?.body) return file.body
    if (file) {
      this.warn(`Corrupt in the mirror ${this.mirror.root}, so not served: ${path}: ${file.corrupt}.`)
      throw new HttpError(404, 'The file of this window is corrupt.')
    }
    if (windowSpan(window).startTime > this.now()) return EMPTY_WINDOW
    const reason = this.upstream ? ' Pages of other sites make this server download nothing.' : ''
    throw new HttpError(404, `This window is not in the mirror.${reason}`)
  }

  /** A list as the mirror has it, else a computed one. Those of an exchange's tree follow from the calendar and from what the mirror has. */
  private list(path: string, entry: ListEntry, upstream: Upstream | undefined): TreeFile | Promise<TreeFile> {
    const isExchange = this.mirror.rules.kind === 'exchange'
    const stored = (warning?: HttpError) => {
      const body = isExchange ? undefined : this.get(path)?.body
      return { body: body ?? this.compute(entry), warning }
    }
    if (isExchange || !upstream) return stored()
    const fail = (error: unknown) => {
      if (error instanceof HttpError) return stored(error)
      throw error
    }
    return upstream.refreshList(entry).then(() => stored(), fail)
  }

  private compute(entry: ListEntry): Body {
    const { mirror } = this
    const list = entry.kind === 'symbols' ? knownSymbols(mirror) : knownDates(mirror, entry.interval, this.now())
    if (list.length === 0 && entry.kind === 'startDates') throw noSuchFile()
    return new Body(Buffer.from(JSON.stringify(list)))
  }

  /** The file at a path of the mirror; undefined when it is missing. A body is valid as long as its file stays the same one. */
  private get(path: string): CachedFile | undefined {
    const cached = this.files.get(path)
    if (cached && this.isCurrent(path, cached)) return cached
    const entry = parseTreePath(path)
    const file = entry && this.read(path, entry)
    if (file) this.files.set(path, file)
    else this.files.delete(path)
    return file
  }

  /** Whether a file still is as it was. Simultaneous requests share one check, which takes a tenth of their time. */
  private isCurrent(path: string, { version, known }: CachedFile): boolean {
    if (this.checked.has(path)) return true
    if (!isSameVersion(version, this.mirror.version(path))) return false
    if (known) {
      const { facts, since } = this.knownOf(known.window)
      if (facts !== known.facts || since !== known.since) return false
    }
    if (this.checked.size === 0) setImmediate(() => this.checked.clear())
    this.checked.add(path)
    return true
  }

  /** What the index says of a window: its facts, and since when later ones are known. */
  private knownOf(window: WindowRef) {
    const index = this.mirror.facts(window)
    return { window, facts: index.get(window.startDate), since: laterSince(index, window.startDate) }
  }

  private read(path: string, entry: TreeEntry): CachedFile | undefined {
    const { mirror } = this
    // Before the file is read: if it is replaced meanwhile, it is read again.
    const before = mirror.version(path)
    const read = entry.kind === 'window' ? mirror.read(entry.window, this.kernel) : mirror.file(path)
    if (read.state === 'missing') return undefined
    if (read.state === 'corrupt') return { version: before, corrupt: trimPeriod(read.reason) }
    const { ino, size, mtimeMs, ctimeMs } = read
    const version = { ino, size, mtimeMs, ctimeMs }
    if (read.state === 'cached' && entry.kind === 'window') {
      const { window } = entry
      const state = mirror.state(window, read)
      const modified = lastModified(window, read.batch, mirror.factsOf(window, read), state)
      const final = state === 'final'
      // The kernel reads the next window into the same memory.
      const body = new Body(Buffer.from(read.bytes), { mtimeMs: modified, final })
      return { version, body, final, ...(!final && { known: this.knownOf(window) }) }
    }
    const bytes = Buffer.from(read.bytes)
    try {
      if (entry.kind === 'startDates') parseStartDates(bytes, entry.interval)
      else parseSymbols(bytes)
    } catch (error) {
      if (!isKlinesError(error, 'bad_list')) throw error
      return { version: before, corrupt: trimPeriod(error.message) }
    }
    return { version, body: new Body(bytes, { mtimeMs }) }
  }
}

function noSuchFile(): HttpError {
  return new HttpError(404, 'There is no such file in the tree of klines.')
}
