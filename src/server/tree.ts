import { LRUCache } from 'lru-cache'
import { isKlinesError } from '../candles/errors.js'
import { isMinutes } from '../candles/intervals.js'
import { parseStartDates, parseSymbols } from '../candles/lists.js'
import { parseTreePath, type TreeEntry } from '../candles/paths.js'
import type { WindowRef } from '../candles/series.js'
import { trimPeriod } from '../candles/text.js'
import { windowSpan } from '../candles/windows.js'
import { knownDates, knownSymbols } from '../engine/lists.js'
import { type FileVersion, isSameVersion } from '../fs/read-file.js'
import { lastModified } from '../mirror/mirror.js'
import { laterSince } from '../mirror/series-index.js'
import type { WindowFacts } from '../mirror/window-state.js'
import { Kernel } from '../rows/wasm/kernel.js'
import { Body } from './body.js'
import { HttpError } from './errors.js'
import type { ServedMirror } from './served-mirror.js'
import type { ListEntry, Upstream } from './upstream.js'

const EMPTY_WINDOW = new Body(Buffer.from('[]'))
/** Memory for cached bodies, bytes. */
const CACHE_BYTES = 56 * 1024 * 1024
/** What a cached corrupt file counts for, bytes. */
const CORRUPT_BYTES = 1024

/** A file of the served tree. */
export interface TreeFile {
  readonly body: Body
  /** Why this may not be the current version: revalidation with the service failed. */
  readonly warning?: HttpError
}

/** A valid file of the mirror in memory. */
interface ValidFile {
  readonly state: 'valid'
  readonly version: FileVersion
  readonly body: Body
  readonly final: boolean
  /** What was known of an open window: it may become final without its file changing. */
  readonly known?: {
    readonly window: WindowRef
    readonly facts: WindowFacts | undefined
    readonly since: number | undefined
  }
}

interface CorruptFile {
  readonly state: 'corrupt'
  /** Undefined when even that cannot be read. */
  readonly version: FileVersion | undefined
  readonly reason: string
  isReported?: boolean
}

type CachedFile = ValidFile | CorruptFile

/**
 * The file tree that a server serves: the mirror's files at valid paths, as bodies in memory; the lists, computed where the mirror has none;
 * and windows of the future, which are empty. With a service behind it, what is missing or can still change is fetched first.
 */
export class Tree {
  private readonly files = new LRUCache<string, CachedFile>({
    maxSize: CACHE_BYTES,
    sizeCalculation: file => (file.state === 'valid' ? file.body.size : CORRUPT_BYTES),
  })
  /** Paths whose file version was checked in this turn of the event loop. */
  private readonly checked = new Set<string>()
  private readonly computed = new Map<string, { readonly text: string; readonly body: Body }>()
  private readonly kernel = new Kernel()

  constructor(
    readonly mirror: ServedMirror,
    readonly upstream: Upstream | undefined,
    /** The current time, ms UTC. */
    readonly now: () => number,
    /** Called with each corrupt file that is not served, once for each of its versions. */
    private readonly warn: (warning: string) => void,
  ) {}

  /**
   * The file at `path` (`api/klines/...`). Returns a promise only when the service is asked, which a page of another site must not cause:
   * then `mayAsk` is false. Throws `HttpError` 404, and what `Upstream` throws.
   */
  file(path: string, mayAsk: boolean): TreeFile | Promise<TreeFile> {
    const cached = this.get(path)
    const upstream = mayAsk ? this.upstream : undefined
    if (cached?.state === 'valid' && (cached.final || !upstream)) return cached
    const entry = parseTreePath(path)
    if (!entry) throw noSuchFile()
    if (entry.kind !== 'window') return this.list(path, entry, upstream)
    const { window } = entry
    if (upstream) return this.current(path, window, upstream)
    if (!cached && !this.isPossible(window)) throw noSuchFile()
    return { body: this.stored(path, window) }
  }

  /** A window as the service has it now; the cached one with a warning where it cannot be asked. */
  private async current(path: string, window: WindowRef, upstream: Upstream): Promise<TreeFile> {
    const cached = this.get(path)
    if (!cached && !(await upstream.knows(window.symbol))) throw noSuchFile()
    // Never requested: a published tree has files of the future, which are not final.
    if (cached?.state !== 'corrupt' && (await this.isFuture(window, upstream)))
      return { body: this.stored(path, window) }
    try {
      await upstream.refresh(window).finally(() => this.checked.delete(path))
    } catch (error) {
      if (!(error instanceof HttpError) || this.get(path)?.state !== 'valid') throw error
      return { body: this.stored(path, window), warning: error }
    }
    return { body: this.stored(path, window) }
  }

  /** Whether a window starts in the future by this machine's clock; for the exchange, only its own clock can say so. */
  private async isFuture(window: WindowRef, upstream: Upstream): Promise<boolean> {
    const { startTime } = windowSpan(window)
    if (startTime <= this.now()) return false
    return this.mirror.rules.kind !== 'exchange' || startTime > (await upstream.present().catch(this.now))
  }

  /** Whether the mirror can have, or can get, candles of a series. */
  private isPossible({ symbol, interval }: WindowRef): boolean {
    return (!isMinutes(interval) || this.mirror.intervals.includes(interval)) && this.mirror.knows(symbol)
  }

  /** The body of a valid window, and `[]` for one that is certainly empty. A corrupt one never is. */
  private stored(path: string, window: WindowRef): Body {
    const file = this.get(path)
    if (file?.state === 'valid') return file.body
    if (file) {
      if (!file.isReported)
        this.warn(`Corrupt in the mirror ${this.mirror.root}, so not served: ${path}: ${file.reason}.`)
      file.isReported = true
      throw new HttpError(404, 'The file of this window is corrupt.')
    }
    if (windowSpan(window).startTime > this.now()) return EMPTY_WINDOW
    const reason = this.upstream ? ' Pages of other sites make this server download nothing.' : ''
    throw new HttpError(404, `This window is not in the mirror.${reason}`)
  }

  /** A list as the mirror has it, else a computed one. Those of an exchange's tree follow from the calendar and from what the mirror has. */
  private list(path: string, entry: ListEntry, upstream: Upstream | undefined): TreeFile | Promise<TreeFile> {
    const isExchange = this.mirror.rules.kind === 'exchange'
    const stored = () => {
      const file = isExchange ? undefined : this.get(path)
      return file?.state === 'valid' ? file.body : this.compute(path, entry)
    }
    if (isExchange || !upstream) return { body: stored() }
    return upstream.refreshList(entry).then(
      () => ({ body: stored() }),
      error => {
        if (!(error instanceof HttpError)) throw error
        return { body: stored(), warning: error }
      },
    )
  }

  private compute(path: string, entry: ListEntry): Body {
    const list =
      entry.kind === 'symbols' ? knownSymbols(this.mirror) : knownDates(this.mirror, entry.interval, this.now())
    if (list.length === 0 && entry.kind === 'startDates') throw noSuchFile()
    const text = JSON.stringify(list)
    const known = this.computed.get(path)
    const computed = known?.text === text ? known : { text, body: new Body(Buffer.from(text)) }
    this.computed.set(path, computed)
    return computed.body
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
  private isCurrent(path: string, file: CachedFile): boolean {
    if (this.checked.has(path)) return true
    if (!isSameVersion(file.version, this.mirror.version(path))) return false
    if (file.state === 'valid' && file.known) {
      const { window, facts, since } = file.known
      const index = this.mirror.facts(window)
      if (index.get(window.startDate) !== facts || laterSince(index, window.startDate) !== since) return false
    }
    if (this.checked.size === 0) setImmediate(() => this.checked.clear())
    this.checked.add(path)
    return true
  }

  private read(path: string, entry: TreeEntry): CachedFile | undefined {
    // Before the file is read: if it is replaced meanwhile, it is read again.
    const version = this.mirror.version(path)
    const corrupt = (reason: string): CorruptFile => ({ state: 'corrupt', version, reason: trimPeriod(reason) })
    if (entry.kind === 'window') {
      const read = this.mirror.read(entry.window, this.kernel)
      if (read.state === 'missing') return undefined
      if (read.state === 'corrupt') return corrupt(read.reason)
      const state = this.mirror.state(entry.window, read)
      const mtimeMs = lastModified(entry.window, read.batch, this.mirror.factsOf(entry.window, read), state)
      const final = state === 'final'
      const index = this.mirror.facts(entry.window)
      const { startDate } = entry.window
      const known = { window: entry.window, facts: index.get(startDate), since: laterSince(index, startDate) }
      // The kernel reads the next window into the same memory.
      return valid(Buffer.from(read.bytes), read, { mtimeMs, final, ...(!final && { known }) })
    }
    const file = this.mirror.file(path)
    if (file.state === 'missing') return undefined
    if (file.state === 'corrupt') return corrupt(file.reason)
    try {
      if (entry.kind === 'startDates') parseStartDates(file.bytes, entry.interval)
      else parseSymbols(file.bytes)
      return valid(file.bytes, file, { mtimeMs: file.mtimeMs, final: false })
    } catch (error) {
      // Only content is corrupt.
      if (!isKlinesError(error, 'bad_list')) throw error
      return corrupt(error.message)
    }
  }
}

function valid(
  bytes: Buffer,
  { ino, size, mtimeMs, ctimeMs }: FileVersion,
  facts: Pick<ValidFile, 'final' | 'known'> & { readonly mtimeMs?: number },
): ValidFile {
  return { state: 'valid', version: { ino, size, mtimeMs, ctimeMs }, body: new Body(bytes, facts), ...facts }
}

function noSuchFile(): HttpError {
  return new HttpError(404, 'There is no such file in the tree of klines.')
}
