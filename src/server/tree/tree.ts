import type { FileMemory } from '../../download/sources/cache-writer.js'
import type { Warn } from '../../download/sources/window-source.js'
import { type Interval, isMinutes } from '../../klines/intervals.js'
import { parseTreePath, type TreeEntry } from '../../klines/paths.js'
import { SYMBOLS, type SymbolName } from '../../klines/symbols.js'
import { windowSpan } from '../../klines/windows.js'
import type { Mirror } from '../../mirror/mirror.js'
import { Body } from '../http/body.js'
import { HttpError } from '../http/error.js'
import { FileCache } from './file-cache.js'
import type { Upstream } from './upstream.js'

const EMPTY_WINDOW = new Body(Buffer.from('[]'))

/** A file of the served tree. */
export interface TreeFile {
  readonly body: Body
  /** Why this may not be the current version: revalidation with the service failed. */
  readonly warning?: HttpError
}

/** What a `Tree` uses besides the mirror. */
export interface TreeOptions {
  /** The current time, ms UTC. */
  readonly now?: (() => number) | undefined
  readonly upstream?: Upstream | undefined
  /** Called with each corrupt file, once for each of its versions. */
  readonly warn?: Warn | undefined
}

/**
 * The file tree that a server serves: the mirror's files at valid paths, the lists (built-in ones where the mirror has
 * none), and windows that are known to be empty.
 */
export class Tree {
  /** The same files without the service: for requests that must not make this server send any. */
  readonly mirrored: Tree
  private readonly files: FileCache
  private readonly builtIn = new Map<string, Body>()
  /** The current time, ms UTC. */
  readonly now: () => number
  readonly upstream: Upstream | undefined
  /** Files that the mirror could not store, by path: each counts instead of the mirror's. */
  readonly memory: FileMemory | undefined

  /** `whole`: the tree with a service whose files this one has. */
  constructor(
    readonly mirror: Mirror,
    { now = Date.now, upstream, warn = () => {} }: TreeOptions = {},
    private readonly whole?: Tree,
  ) {
    this.now = now
    this.upstream = upstream
    this.memory = upstream?.memory ?? whole?.memory
    this.files = whole?.files ?? new FileCache(mirror, this.memory ?? new Map(), warn)
    this.mirrored = upstream ? new Tree(mirror, { now }, this) : this
  }

  /**
   * The file at `path` (`api/klines/...`). A missing window is `[]` only when that is certain: it starts in the future, or
   * belongs to the bundled sample. A corrupt one never is. Returns a promise only when the service has to be requested. Throws
   * `HttpError` 404.
   */
  file(path: string): TreeFile | Promise<TreeFile> {
    const cached = this.files.get(path)
    if (cached?.state === 'valid' && (cached.final || !this.upstream)) return cached
    const entry = parseTreePath(path)
    if (!entry) throw noSuchFile()
    const interval = entry.kind === 'window' ? entry.window.interval : entry.kind === 'startDates' && entry.interval
    if (!cached && interval && this.lacksInterval(interval)) throw noSuchFile()
    const isUnknown = !cached && entry.kind === 'window' && !this.mirror.contents.hasSymbol(entry.window.symbol)
    if (isUnknown) return this.unknownSymbol(path, entry)
    // Never requested: a published tree has files of the future, which are not final.
    if (cached?.state !== 'corrupt' && isFuture(entry, this.now())) return this.futureWindow(path, entry, cached)
    // The lists of an exchange's tree follow from the calendar and from what the mirror has.
    const isLocal = entry.kind !== 'window' && this.mirror.rules.listsMirrored
    return this.upstream && !isLocal
      ? this.revalidate(path, entry, this.upstream)
      : { body: this.currentBody(path, entry) }
  }

  /** Whether neither the mirror nor a service behind it can have candles of an interval. */
  lacksInterval(interval: Interval): boolean {
    return !this.upstream && !this.mirror.contents.intervals().includes(interval)
  }

  /** A window that starts in the future by this machine's clock; for the exchange, only its own clock can say so. */
  private futureWindow(path: string, entry: TreeEntry, cached: TreeFile | undefined): TreeFile | Promise<TreeFile> {
    const { upstream } = this
    const empty = cached ?? { body: EMPTY_WINDOW }
    if (!upstream || !this.mirror.rules.rendersAnswers) return empty
    return upstream.currentTime().then(
      present => (isFuture(entry, present) ? empty : this.revalidate(path, entry, upstream)),
      () => empty,
    )
  }

  /** A window of a symbol that the mirror does not know: the service may. */
  private unknownSymbol(path: string, entry: TreeEntry & { kind: 'window' }): Promise<TreeFile> {
    const { upstream } = this
    if (!upstream) throw noSuchFile()
    return upstream.hasSymbol(entry.window.symbol).then(has => {
      if (!has) throw noSuchFile()
      return isFuture(entry, this.now())
        ? this.futureWindow(path, entry, undefined)
        : this.revalidate(path, entry, upstream)
    })
  }

  /** Revalidates a file with the service; when that fails, returns the cached one with a warning. */
  private async revalidate(path: string, entry: TreeEntry, upstream: Upstream): Promise<TreeFile> {
    const isCorrupt = this.files.get(path)?.state === 'corrupt'
    try {
      await upstream.fetch(path, entry, isCorrupt).finally(() => this.files.recheck(path))
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      if (entry.kind === 'window' && this.files.get(path)?.state !== 'valid') throw error
      return { body: this.currentBody(path, entry), warning: error }
    }
    return { body: this.currentBody(path, entry) }
  }

  /** The body of a valid file, and what stands for one that is missing or corrupt. */
  private currentBody(path: string, entry: TreeEntry): Body {
    // With the exchange behind it, the tree has more days than a list that was stored once.
    const isDaily =
      entry.kind === 'startDates' && isMinutes(entry.interval) && this.upstream && this.mirror.rules.listsMirrored
    if (isDaily) return this.minuteList(entry.interval)
    const file = this.files.get(path)
    if (file?.state === 'valid') return file.body
    if (entry.kind !== 'window') return this.builtInList(path, entry)
    if (file) throw new HttpError(404, 'The file of this window is corrupt.')
    if (this.mirror.contents.missingMeansEmpty(entry.window)) return EMPTY_WINDOW
    const reason = this.whole ? ' Pages of other sites make this server download nothing.' : ''
    throw new HttpError(404, `This window is not in the mirror.${reason}`)
  }

  private builtInList(path: string, entry: TreeEntry & { kind: 'symbols' | 'startDates' }): Body {
    if (entry.kind === 'symbols' && this.mirror.rules.listsMirrored)
      return new Body(Buffer.from(JSON.stringify(listSymbols(this.mirror))))
    if (entry.kind === 'startDates' && isMinutes(entry.interval)) return this.minuteList(entry.interval)
    const list = entry.kind === 'symbols' ? SYMBOLS : this.mirror.rules.startDates(entry.interval, this.now())
    const body = this.builtIn.get(path) ?? new Body(Buffer.from(JSON.stringify(list)))
    this.builtIn.set(path, body)
    return body
  }

  /** The list of 1m, 3m or 5m of an exchange's tree: a new one each day. */
  private minuteList(interval: Interval): Body {
    const list = this.mirror.rules.startDates(interval, this.now())
    if (list.length === 0) throw noSuchFile()
    return new Body(Buffer.from(JSON.stringify(list)))
  }
}

function noSuchFile(): HttpError {
  return new HttpError(404, 'There is no such file in the tree of klines.')
}

/** The symbols of a mirror: those that one of the exchange has, those that one of a static service lists. */
export function listSymbols(mirror: Mirror): readonly SymbolName[] {
  if (mirror.rules.listsMirrored) return mirror.contents.symbols()
  const listed = mirror.contents.listedSymbols()
  return listed.length > 0 ? listed : SYMBOLS
}

function isFuture(entry: TreeEntry, now: number): boolean {
  return entry.kind === 'window' && windowSpan(entry.window).startTime > now
}
