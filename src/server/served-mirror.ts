import { dirname, join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { SAMPLE } from '../candles/base-url.js'
import { isKlinesError } from '../candles/errors.js'
import { EXCHANGE_INTERVALS, type Interval, isMinutes } from '../candles/intervals.js'
import { seriesPath, windowPath } from '../candles/paths.js'
import type { Series, WindowRef } from '../candles/series.js'
import type { SymbolName } from '../candles/symbols.js'
import type { FileRead, FileVersion } from '../fs/files.js'
import { checkInside } from '../fs/folders.js'
import { findTarget } from '../fs/links.js'
import { Mirror, type WindowRead } from '../mirror/mirror.js'
import { indexPath } from '../mirror/series-index.js'
import { knownSymbols, type SeriesStatus, seriesStatus } from '../mirror/status.js'
import type { WindowFacts } from '../mirror/window-state.js'
import type { Kernel } from '../rows/wasm/kernel.js'
import { decodeWindow } from '../rows/window-codec.js'
import { type Rules, rulesOf } from '../sources/source.js'

/** For files that the disk does not take. */
const MEMORY_BYTES = 32 * 1024 * 1024
const NO_VERSION = { ino: 0, mtimeMs: 0, ctimeMs: 0 }

/**
 * The mirror of a server. What the disk does not take is kept in memory, and counts instead of the file. A window may be a link to its file;
 * nothing is read below a link that leads out of the mirror.
 */
export class ServedMirror extends Mirror {
  private readonly memory = new LRUCache<string, Extract<FileRead, { state: 'file' }>>({
    maxSize: MEMORY_BYTES,
    sizeCalculation: ({ size }) => size + 1024,
  })
  private versions = 0
  private readonly recent = new LRUCache<string, object>({ max: 1000, ttl: 1000 })
  private readonly statuses = new Map<string, { readonly version: string; readonly status: SeriesStatus }>()

  /** `givenSource`: the source that the mirror is going to have; until its first file it may be an empty folder. */
  constructor(
    root: string,
    private readonly givenSource: string | undefined,
    private readonly tell: (warning: string) => void,
  ) {
    super(root, tell)
  }

  get baseUrl(): string | undefined {
    return this.source ?? this.givenSource
  }

  override get rules(): Rules {
    return rulesOf(this.baseUrl)
  }

  /** The intervals that the mirror has or may get: 1m, 3m and 5m of the exchange, and where it has them. */
  get intervals(): readonly Interval[] {
    const isExchange = this.rules.kind === 'exchange'
    return EXCHANGE_INTERVALS.filter(one => isExchange || !isMinutes(one) || this.symbols([one]).length > 0)
  }

  /** Whether other threads can read all that it has. */
  get isOnDisk(): boolean {
    return this.memory.size === 0
  }

  /** Whether its source is known to have a symbol. */
  knows(symbol: SymbolName): boolean {
    const listed = this.kept('listed', () => knownSymbols(this, []))
    return listed.includes(symbol) || this.symbols().includes(symbol)
  }

  /** What `make` returns; it is kept for a second, or until this server stores a file. */
  kept<T extends object>(key: string, make: () => T): T {
    const kept = this.recent.get(key)
    if (kept) return kept as T
    const made = make()
    this.recent.set(key, made)
    return made
  }

  override symbols(intervals: readonly Interval[] = EXCHANGE_INTERVALS): SymbolName[] {
    return this.kept(`symbols of ${intervals.join()}`, () => super.symbols(intervals))
  }

  /** The status of a series, read again when its folder, its newest window or its index has changed. */
  status(series: Series): SeriesStatus {
    const folder = seriesPath(series)
    const paths = [folder, `${folder}/${this.files(series).at(-1)}.json`, indexPath(series)]
    const version = JSON.stringify(paths.map(path => this.version(path)?.mtimeMs))
    const known = this.statuses.get(folder)
    if (known?.version === version) return known.status
    const status = seriesStatus(this, series)
    this.statuses.set(folder, { version, status })
    return status
  }

  override version(path: string): FileVersion | undefined {
    return this.memory.get(path) ?? super.version(path)
  }

  override readFile(path: string, allocate: (size: number) => Buffer = Buffer.alloc): FileRead {
    const kept = this.memory.get(path)
    if (kept) {
      const bytes = allocate(kept.size)
      bytes.set(kept.bytes)
      return { ...kept, bytes }
    }
    try {
      checkInside(this.root, dirname(path))
    } catch (error) {
      if (!isKlinesError(error, 'linked_path')) throw error
      return { state: 'corrupt', reason: 'below a link that leads elsewhere' }
    }
    return super.readFile(path, allocate)
  }

  override read(window: WindowRef, kernel?: Kernel): WindowRead {
    const read = super.read(window, kernel)
    // No client hears of what a link names unless it is this window.
    const linkTo = read.state === 'cached' ? undefined : findTarget(join(this.root, windowPath(window)))
    if (linkTo !== undefined)
      return read.state === 'corrupt' ? { ...read, reason: 'a link to something else' } : { state: 'missing' }
    // The sample is complete, and its empty windows have no files.
    if (read.state !== 'missing' || this.source !== SAMPLE || !this.has(window)) return read
    const bytes = Buffer.from('[]')
    return { state: 'cached', bytes, batch: decodeWindow(bytes, window), ...NO_VERSION, size: bytes.length }
  }

  override store(window: WindowRef, bytes: Buffer, facts: WindowFacts, source: string): void {
    const isStored = this.keep(windowPath(window), bytes, () => super.store(window, bytes, facts, source))
    if (!isStored) this.note(window, facts)
  }

  /** What the disk does not take is kept in memory. */
  override checkWritable(): void {}

  override storeList(path: string, bytes: Buffer, mtimeMs: number, source: string): void {
    this.keep(path, bytes, () => super.storeList(path, bytes, mtimeMs, source))
  }

  override flush(series: Series): void {
    this.attempt(() => super.flush(series))
  }

  private keep(path: string, bytes: Buffer, write: () => void): boolean {
    const isWritten = this.attempt(write)
    this.recent.clear()
    if (isWritten) this.memory.delete(path)
    else this.memory.set(path, { state: 'file', bytes, ...NO_VERSION, size: bytes.length, mtimeMs: ++this.versions })
    return isWritten
  }

  private attempt(write: () => void): boolean {
    try {
      write()
      return true
    } catch (error) {
      if (!isKlinesError(error, 'linked_path') && !isKlinesError(error, 'mirror_unusable')) throw error
      // The first file that is kept there says it for all.
      if (this.isOnDisk)
        this.tell(`${error.message} Continuing in memory: downloaded windows are not kept for the next run.`)
      return false
    }
  }
}
