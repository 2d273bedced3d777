import { dirname, join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { isKlinesError } from '../candles/errors.js'
import { EXCHANGE_INTERVALS, type Interval, isMinutes } from '../candles/intervals.js'
import { windowPath } from '../candles/paths.js'
import type { Series, WindowRef } from '../candles/series.js'
import { SYMBOLS, type SymbolName } from '../candles/symbols.js'
import { type FileRead, type FileVersion, readFile } from '../fs/files.js'
import { checkInside } from '../fs/folders.js'
import { MAX_FILE_BYTES, statPath } from '../mirror/file-store.js'
import { Mirror, type WindowRead } from '../mirror/mirror.js'
import type { WindowFacts } from '../mirror/window-state.js'
import type { Kernel } from '../rows/wasm/kernel.js'
import { decodeWindow } from '../rows/window-codec.js'
import { rulesOf, SAMPLE } from '../sources/base-url.js'
import type { Rules } from '../sources/source.js'

/** Memory for files that the disk does not take, bytes. */
const MEMORY_BYTES = 32 * 1024 * 1024
const NO_VERSION = { ino: 0, mtimeMs: 0, ctimeMs: 0 }

/**
 * The mirror of a server, which reads it, and writes to it what it downloads. What the disk does not take is kept in memory, and counts
 * instead of the file. No file behind a link that leads out of the mirror is read.
 */
export class ServedMirror extends Mirror {
  private readonly memory = new LRUCache<string, Extract<FileRead, { state: 'file' }>>({
    maxSize: MEMORY_BYTES,
    sizeCalculation: ({ size }) => size + 1024,
  })
  private versions = 0

  /** `givenSource`: the source that the mirror is going to have; until its first file it may be an empty folder. */
  constructor(
    root: string,
    private readonly givenSource: string | undefined,
    private readonly tell: (warning: string) => void,
  ) {
    super(root, tell)
  }

  /** The base address that the mirror copies or is going to copy. */
  get baseUrl(): string | undefined {
    return this.source ?? this.givenSource
  }

  override get rules(): Rules {
    return rulesOf(this.baseUrl)
  }

  /** The intervals that the mirror has or may get: those of 1m, 3m and 5m of the exchange, and where it has them. */
  get intervals(): readonly Interval[] {
    const isExchange = this.rules.kind === 'exchange'
    return EXCHANGE_INTERVALS.filter(one => isExchange || !isMinutes(one) || this.symbols([one]).length > 0)
  }

  /** Whether a symbol is one of the public service, the mirror lists it, or has or had a window of it. */
  knows(symbol: SymbolName): boolean {
    const isListed = this.rules.kind !== 'exchange' && [...SYMBOLS, ...(this.listedSymbols() ?? [])].includes(symbol)
    return isListed || EXCHANGE_INTERVALS.some(interval => this.has({ symbol, interval }))
  }

  /** The version of the file at a path; undefined when it is missing. */
  version(path: string): FileVersion | undefined {
    return this.memory.get(path) ?? statPath(join(this.root, path))
  }

  /** The file at a path of the tree. */
  file(path: string): FileRead {
    return this.memory.get(path) ?? this.outside(path) ?? readFile(join(this.root, path), MAX_FILE_BYTES)
  }

  override read(window: WindowRef, kernel?: Kernel): WindowRead {
    const path = windowPath(window)
    const kept = this.memory.get(path)
    if (kept) return { ...kept, state: 'cached', batch: decodeWindow(kept.bytes, window) }
    const read = this.outside(path) ?? super.read(window, kernel)
    // The sample is complete, and its empty windows have no files.
    const isEmpty = read.state === 'missing' && this.source === SAMPLE && this.has(window)
    if (!isEmpty) return read
    const bytes = Buffer.from('[]')
    return { state: 'cached', bytes, batch: decodeWindow(bytes, window), ...NO_VERSION, size: bytes.length }
  }

  override store(window: WindowRef, bytes: Buffer, facts: WindowFacts, source: string): void {
    const isStored = this.keep(windowPath(window), bytes, () => super.store(window, bytes, facts, source))
    if (!isStored) this.note(window, facts)
  }

  override storeList(path: string, bytes: Buffer, mtimeMs: number, source: string): void {
    this.keep(path, bytes, () => super.storeList(path, bytes, mtimeMs, source))
  }

  /** Where the disk takes nothing, what is known of windows stays in memory, too. */
  override flush(series: Series): void {
    this.attempt(() => super.flush(series))
  }

  /** Writes a file, or keeps it in memory; returns whether it was written. */
  private keep(path: string, bytes: Buffer, write: () => void): boolean {
    const isWritten = this.attempt(write)
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
      this.tell(`${error.message} Continuing in memory: downloaded windows are not kept for the next run.`)
      return false
    }
  }

  /** What a file below a link that leads out of the mirror is read as. */
  private outside(path: string): { readonly state: 'corrupt'; readonly reason: string } | undefined {
    try {
      checkInside(this.root, dirname(path))
      return undefined
    } catch (error) {
      if (isKlinesError(error, 'linked_path')) return { state: 'corrupt', reason: 'below a link that leads elsewhere' }
      throw error
    }
  }
}
