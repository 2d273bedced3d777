import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { parseTreePath, type TreeEntry } from '../candles/paths.js'
import type { WindowRef } from '../candles/series.js'
import type { SymbolName } from '../candles/symbols.js'
import { windowSpan } from '../candles/windows.js'
import { type FileVersion, isSameVersion } from '../fs/files.js'
import { lastModified } from '../mirror/mirror.js'
import { knownDates, knownSymbols, mirrorSymbols } from '../mirror/status.js'
import type { WindowFacts } from '../mirror/window-state.js'
import { Kernel } from '../rows/wasm/kernel.js'
import { Body, type Route, sendBody } from './body.js'
import { HttpError, quotable } from './errors.js'
import { isFromOtherSite } from './hosts.js'
import type { ServedMirror } from './served-mirror.js'
import type { Upstream } from './upstream.js'

const EMPTY_WINDOW = new Body(Buffer.from('[]'))
const CACHE_BYTES = 56 * 1024 * 1024

/** `warning`: why this may not be the current version. */
interface TreeFile {
  readonly body: Body
  readonly warning?: HttpError | undefined
}

/** A file of the mirror in memory: its body, or why it is corrupt. */
interface CachedFile {
  readonly version: FileVersion | undefined
  readonly body?: Body
  /** Of an open window: it may become final without its file changing. None for a final one. */
  readonly known?: { readonly window: WindowRef; readonly facts: WindowFacts | undefined } | undefined
  readonly corrupt?: string
}

/** The routes of the klines API: the paths of the public service. As of any static tree, what is not there is 404 and never 400. */
export function treeRoutes(tree: Tree): Route[] {
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    const [path] = (request.raw.url ?? '').slice(1).split('?', 1)
    const file = tree.file(decodeURIComponent(path), !isFromOtherSite(request.raw))
    const send = ({ body, warning }: TreeFile) => sendBody(request, reply, body, warning && staleHeaders(warning))
    return file instanceof Promise ? file.then(send) : send(file)
  }
  const urls = ['symbols.json', 'start-dates/:file', ':interval/:symbol/:file'].map(path => `/api/klines/${path}`)
  return urls.map(url => ({ method: 'GET', url, handler }))
}

/** Header fields of what could not be revalidated (RFC 7234, 5.5.4); later RFCs have no field that replaces Warning. */
function staleHeaders({ message }: Error): Record<string, string> {
  return { warning: `111 klines "Revalidation Failed: ${quotable(message)}"`, 'cache-control': 'no-cache' }
}

/**
 * The file tree that a server serves: the mirror's windows at valid paths, as bodies in memory; windows of the future, which are empty;
 * and the lists. With a service behind it, what is missing or can still change is fetched first.
 */
export class Tree {
  private readonly files = new LRUCache<string, CachedFile>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ body }) => body?.size ?? 1024,
  })
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
    if (cached?.body && !(cached.known && upstream)) return { body: cached.body }
    const entry = parseTreePath(path)
    if (!entry) throw new HttpError(404)
    if (!upstream || !this.canChange(entry, cached)) return { body: this.stored(path, entry) }
    const fail = (error: unknown) => {
      const isThere = entry.kind !== 'window' || this.get(path)?.body
      if (error instanceof HttpError && isThere) return { body: this.stored(path, entry), warning: error }
      throw error
    }
    return upstream.refresh(entry).then(() => ({ body: this.stored(path, entry) }), fail)
  }

  /** Lists of an exchange follow from the calendar, and windows of the future are empty. */
  private canChange(entry: TreeEntry, cached: CachedFile | undefined): boolean {
    if (entry.kind !== 'window') return this.mirror.rules.kind !== 'exchange'
    return cached?.corrupt !== undefined || windowSpan(entry.window).startTime <= this.now()
  }

  /** What the mirror has, a list, or `[]` for a window of the future. */
  private stored(path: string, entry: TreeEntry): Body {
    const { mirror } = this
    if (entry.kind !== 'window')
      return mirror.kept(path, () => {
        const list = entry.kind === 'symbols' ? this.symbols() : knownDates(mirror, entry.interval, this.now())
        if (list.length === 0 && entry.kind === 'startDates') throw new HttpError(404)
        return new Body(Buffer.from(JSON.stringify(list)))
      })
    const file = this.get(path)
    if (file?.body) return file.body
    if (file) {
      this.warn(`Corrupt in the mirror ${mirror.root}, so not served: ${path}: ${file.corrupt}.`)
      throw new HttpError(404, 'The file of this window is corrupt.')
    }
    const { interval, symbol } = entry.window
    if (!mirror.intervals.includes(interval) || !mirror.knows(symbol)) throw new HttpError(404)
    if (windowSpan(entry.window).startTime > this.now()) return EMPTY_WINDOW
    const reason = this.upstream ? ' Pages of other sites make this server download nothing.' : ''
    throw new HttpError(404, `This window is not in the mirror.${reason}`)
  }

  /** The symbols of the mirror, or with a service behind it those of the service, in the order of the source. */
  symbols(): SymbolName[] {
    return this.upstream ? knownSymbols(this.mirror) : mirrorSymbols(this.mirror)
  }

  /** The window at a path of the mirror; undefined when it is missing. A body is valid as long as its file stays the same one. */
  private get(path: string): CachedFile | undefined {
    const cached = this.files.get(path)
    if (cached && this.isCurrent(path, cached)) return cached
    const entry = parseTreePath(path)
    const file = entry?.kind === 'window' ? this.read(path, entry.window) : undefined
    if (file) this.files.set(path, file)
    else this.files.delete(path)
    return file
  }

  private isCurrent(path: string, { version, known }: CachedFile): boolean {
    if (!isSameVersion(version, this.mirror.version(path))) return false
    return !known || this.factsOf(known.window) === known.facts
  }

  /** What the index says of a window: another object after each write of the index. */
  private factsOf(window: WindowRef): WindowFacts | undefined {
    return this.mirror.facts(window).get(window.startDate)
  }

  private read(path: string, window: WindowRef): CachedFile | undefined {
    const { mirror } = this
    // Before the file is read: if it is replaced meanwhile, it is read again.
    const version = mirror.version(path)
    const read = mirror.read(window, this.kernel)
    if (read.state === 'missing') return undefined
    if (read.state === 'corrupt') return { version, corrupt: read.reason }
    const facts = mirror.factsOf(window, read)
    const state = mirror.state(window, read, facts)
    const final = state === 'final'
    const mtimeMs = lastModified(window, read.batch, facts, state)
    // The kernel reads the next window into the same memory.
    const body = new Body(Buffer.from(read.bytes), { mtimeMs, final })
    return { version, body, known: final ? undefined : { window, facts: this.factsOf(window) } }
  }
}
