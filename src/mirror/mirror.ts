import { appendFileSync, existsSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isKlinesError, KlinesError } from '../candles/errors.js'
import { EXCHANGE_INTERVALS, type Interval } from '../candles/intervals.js'
import { parseStartDates, parseSymbols } from '../candles/lists.js'
import { intervalPath, SYMBOLS_PATH, seriesPath, sourceListPath, startDatesPath, windowPath } from '../candles/paths.js'
import { type Series, seriesName, type WindowRef, windowName } from '../candles/series.js'
import { isSymbol, type SymbolName, sortSymbols } from '../candles/symbols.js'
import { trimPeriod } from '../candles/text.js'
import { isStartDate, windowSpan } from '../candles/windows.js'
import { type FileRead, type FileVersion, readFile } from '../fs/files.js'
import { checkInside } from '../fs/folders.js'
import type { ChangedCell } from '../rows/diff.js'
import { sha256 } from '../rows/fingerprint.js'
import { GapCounter } from '../rows/gaps.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import type { Kernel } from '../rows/wasm/kernel.js'
import { decodeInPlace, decodeWindow } from '../rows/window-codec.js'
import { type Rules, rulesOf } from '../sources/source.js'
import { CHANGES_FILE } from './changes.js'
import { toMirrorError } from './errors.js'
import { listFolder, MAX_FILE_BYTES, META_FILE, readSource, statPath, sweepTemps, writeFile } from './file-store.js'
import { type IndexEntries, indexPath, parseIndex, SeriesIndex } from './series-index.js'
import {
  SETTLING_MS,
  type State,
  type WindowEnds,
  type WindowFacts,
  type WindowFile,
  windowState,
} from './window-state.js'

/** Valid until the next read into the same kernel. */
export interface CachedWindow extends FileVersion {
  readonly state: 'cached'
  readonly batch: KlineBatch
  /** Of its file. */
  readonly bytes: Uint8Array
}

/** A window as it lies in a mirror. `reason`: what is wrong with a corrupt one, without its name or a period. */
export type WindowRead =
  | CachedWindow
  | Extract<FileRead, { state: 'missing' }>
  | { readonly state: 'corrupt'; readonly reason: string }

/**
 * The file tree on disk: `root/api/klines/...`, with the paths of the URLs, and beside it what is known of its windows.
 * Any number of processes may share it. All methods throw `mirror_unusable` for faults of the file system: what cannot
 * be read is not corrupt.
 */
export class Mirror {
  private readonly indexes = new Map<string, { readonly series: Series; readonly index: SeriesIndex }>()
  /** Whether this process has begun to store files. */
  private hasStored = false
  private known: string | undefined

  /** `warn`: hears of damaged files beside the tree. */
  constructor(
    readonly root: string,
    private readonly warn: (warning: string) => void = () => {},
  ) {}

  /** The base address that the mirror copies; undefined for a bare folder. */
  get source(): string | undefined {
    // A mirror never changes its source, but a folder may become a mirror.
    this.known ??= this.reading(() => readSource(this.root, this.warn))
    return this.known
  }

  get rules(): Rules {
    return rulesOf(this.source)
  }

  get exists(): boolean {
    return existsSync(join(this.root, 'api', 'klines'))
  }

  /** Reads a window, into memory of its own or that of `kernel`. */
  read(window: WindowRef, kernel?: Kernel): WindowRead {
    const file = this.readFile(windowPath(window), kernel && (size => kernel.buffer(size)))
    if (file.state !== 'file') return file
    try {
      const anchor = this.gridAnchor(window)
      const batch = kernel
        ? decodeInPlace(file.bytes, window, kernel, anchor)
        : decodeWindow(file.bytes, window, anchor)
      return { ...file, state: 'cached', batch }
    } catch (error) {
      if (!isKlinesError(error, 'bad_window')) throw error
      return { state: 'corrupt', reason: trimPeriod(error.message).replace(`${windowName(window)}: `, '') }
    }
  }

  /** When a candle of a 3d series opens, ms UTC, if the index knows one: its grid comes from it. */
  gridAnchor(series: Series): number | undefined {
    if (series.interval !== '3d') return undefined
    return [...this.facts(series).values()].find(({ first }) => first !== undefined)?.first
  }

  /** The names of the window files of a series, in no order. */
  files(series: Series): string[] {
    const path = seriesPath(series)
    const names = this.reading(() => listFolder(join(this.root, path)), path)
    return names.flatMap(name => (name.endsWith('.json') ? name.slice(0, -5) : []))
  }

  /** The startDates of the windows that a series has or had, ascending: the index may know some that the folder lacks. */
  dates(series: Series): string[] {
    const dates = new Set([...this.files(series), ...this.facts(series).keys()])
    return [...dates].filter(date => isStartDate(series.interval, date)).sort()
  }

  /** Whether the mirror has, or had, a window of a series. */
  has(series: Series): boolean {
    return this.files(series).some(name => isStartDate(series.interval, name)) || this.facts(series).size > 0
  }

  /** The symbols with a window: the ten of the public service first, then the others by name. Default: at any interval. */
  symbols(intervals: readonly Interval[] = EXCHANGE_INTERVALS): SymbolName[] {
    const found = new Set<SymbolName>()
    for (const interval of intervals) {
      for (const symbol of this.namesAt(interval))
        if (!found.has(symbol) && this.has({ symbol, interval })) found.add(symbol)
    }
    return sortSymbols(found)
  }

  /** The symbols with a folder or an index of an interval, in no order. An empty folder has no window. */
  private namesAt(interval: Interval): Set<SymbolName> {
    const folders = [intervalPath(interval), dirname(indexPath({ symbol: '-', interval }))]
    const names = folders.flatMap(path => this.reading(() => listFolder(join(this.root, path)), path))
    return new Set(names.map(name => name.replace(/\.json$/, '')).filter(isSymbol))
  }

  /** Each series with a window, symbol by symbol. */
  series(): Series[] {
    const listing = EXCHANGE_INTERVALS.map(interval => ({ interval, names: this.namesAt(interval) }))
    return sortSymbols(listing.flatMap(({ names }) => [...names])).flatMap(symbol => {
      const ofSymbol = listing.filter(({ names }) => names.has(symbol)).map(({ interval }) => ({ symbol, interval }))
      return ofSymbol.filter(one => this.has(one))
    })
  }

  /** A list as its source had it last, else that of the tree; undefined without one, and with a warning for a corrupt one. */
  startDates(interval: Interval): string[] | undefined {
    return this.readList(startDatesPath(interval), bytes => parseStartDates(bytes, interval))
  }

  listedSymbols(): SymbolName[] | undefined {
    return this.readList(SYMBOLS_PATH, parseSymbols)
  }

  /** What is known of the windows of a series, also by other processes. */
  facts(series: Series): IndexEntries {
    return this.index(series).entries
  }

  /** What is known of a cached window, if its file is as it was downloaded. */
  factsOf(window: WindowRef, { bytes }: { readonly bytes: Uint8Array }): WindowFacts | undefined {
    const facts = this.facts(window).get(window.startDate)
    return facts?.size === bytes.length && sha256(bytes) === facts.sha256 ? facts : undefined
  }

  /** What is known of a window whose file nobody has touched since it was stored or read: it need not be read. */
  knownFacts(window: WindowRef): WindowFacts | undefined {
    const facts = this.facts(window).get(window.startDate)
    return facts && this.isUntouched(window, facts) ? facts : undefined
  }

  private isUntouched(window: WindowRef, { size, ctime }: WindowFacts): boolean {
    const file = this.version(windowPath(window))
    return file?.size === size && file.ctimeMs === ctime
  }

  /** Looks at an index once. Returns what says what is known of a window that is final and untouched: it need not be read. */
  settled(series: Series): (window: WindowRef) => WindowFacts | undefined {
    const index = this.index(series)
    const { entries } = index
    return window => {
      const facts = entries.get(window.startDate)
      if (facts?.candles === undefined) return undefined
      const state = windowState(window, facts, facts, index.laterSince(window.startDate), this.rules)
      return state === 'final' && this.isUntouched(window, facts) ? facts : undefined
    }
  }

  /** What is known of a window that was read, if its file is as it was downloaded. The next run need not read it. */
  confirm(window: WindowRef, read: CachedWindow): WindowFacts | undefined {
    const known = this.factsOf(window, read)
    if (known === undefined || (known.candles !== undefined && known.ctime === read.ctimeMs)) return known
    const facts = { ...known, ...fileOf(window, read), ctime: read.ctimeMs }
    this.note(window, facts)
    return facts
  }

  /** The SHA-256 of the file of a window; undefined without one. */
  digest(window: WindowRef): string | undefined {
    const facts = this.knownFacts(window)
    if (facts) return facts.sha256
    const file = this.readFile(windowPath(window))
    return file.state === 'file' ? sha256(file.bytes) : undefined
  }

  /** The first and the last candle of a cached window: as the index says, where it means this file, else as the file says. */
  ends(window: WindowRef): WindowEnds {
    const facts = this.knownFacts(window)
    if (facts) return facts
    const read = this.read(window)
    return read.state === 'cached' ? endsOf(read.batch) : {}
  }

  /** The version of a file; undefined without one. */
  version(path: string): FileVersion | undefined {
    return this.reading(() => statPath(`${this.root}/${path}`), path)
  }

  /** Whether a cached window can still change. `facts`: what is known of it, if its file is as it was downloaded. */
  state(window: WindowRef, { batch }: Pick<CachedWindow, 'batch'>, facts: WindowFacts | undefined): State {
    const index = this.index(window)
    const entry = index.entries.get(window.startDate)
    const cached = { last: batch.lastOpenTime, sha256: facts?.sha256 }
    return windowState(window, cached, entry, index.laterSince(window.startDate), this.rules)
  }

  /** Makes the folder a mirror of `source` unless it is one already. */
  private adopt(source: string): void {
    this.checkSource(source)
    // Once, before the first file: what killed runs have left.
    if (!this.hasStored) this.writing(() => sweepTemps(this.root))
    this.hasStored = true
    // Somebody may have removed the folder meanwhile.
    if (this.source !== undefined && existsSync(join(this.root, META_FILE))) return
    this.writeFile(META_FILE, `${JSON.stringify({ baseUrl: source }, null, 2)}\n`)
  }

  /** Throws `mirror_mismatch` when this is a mirror of another source. */
  checkSource(source: string): void {
    const found = this.source
    if (found === undefined || found === source) return
    throw new KlinesError('mirror_mismatch', `${this.root} is a mirror of ${found}, not of ${source}.`, {
      suggestions: [`Name another folder with --mirror, or that address with --base-url ${found}.`],
      data: { mirror: this.root, mirrorBaseUrl: found, baseUrl: source },
    })
  }

  /** Stores a window of `source`, and what is known of it. Throws `mirror_mismatch` too. */
  store(window: WindowRef, bytes: Uint8Array, facts: WindowFacts, source: string): void {
    this.adopt(source)
    const path = windowPath(window)
    const mtimeMs = facts.rendered ?? facts.asked
    const ctime = this.reading(() => writeFile(this.root, path, bytes, mtimeMs), path, 'write')
    this.note(window, { ...facts, ctime })
  }

  storeList(path: string, bytes: Uint8Array, mtimeMs: number, source: string): void {
    this.adopt(source)
    this.writeFile(path, bytes, mtimeMs)
  }

  appendChanges({ symbol, interval, startDate }: WindowRef, cells: readonly ChangedCell[], time: number): void {
    if (cells.length === 0) return
    const lines = cells.map(cell => `${JSON.stringify({ time, symbol, interval, startDate, ...cell })}\n`)
    try {
      checkInside(this.root, CHANGES_FILE)
      appendFileSync(join(this.root, CHANGES_FILE), lines.join(''))
    } catch (error) {
      const { message } = toMirrorError(error, 'write', this.root, CHANGES_FILE)
      this.warn(`${message} Values that changed are not kept there.`)
    }
  }

  setTime(window: WindowRef, time: number): void {
    this.writing(() => utimesSync(join(this.root, windowPath(window)), time / 1000, time / 1000))
  }

  /** Throws `linked_path` for a window that is a link, or whose index is one, before a run asks for it: nothing is written through a link. */
  checkWritable(window: WindowRef): void {
    for (const path of [windowPath(window), indexPath(window)]) this.reading(() => checkInside(this.root, path), path)
  }

  /** Keeps what is known of a window; it is written with `flush`, and every second. */
  note(window: WindowRef, facts: WindowFacts): void {
    const index = this.index(window)
    index.note(window.startDate, facts)
    if (index.isDue) this.flush(window)
  }

  /** Writes what this process knows of a series. Entries that others have written stay. */
  flush(series: Series): void {
    try {
      this.indexes.get(seriesName(series))?.index.flush()
    } catch (error) {
      // A mirror that this user may not write can be read.
      if (this.hasStored) throw error
    }
  }

  flushAll(): void {
    for (const { series } of this.indexes.values()) this.flush(series)
  }

  private index(series: Series): SeriesIndex {
    const name = seriesName(series)
    const opened = this.indexes.get(name)
    if (opened) return opened.index
    const path = indexPath(series)
    const file = {
      version: () => this.version(path),
      read: () => this.readIndex(series, path),
      write: (text: string) => this.writeFile(path, text),
    }
    const index = new SeriesIndex(file)
    this.indexes.set(name, { series, index })
    return index
  }

  private readIndex(series: Series, path: string): IndexEntries {
    const file = this.readFile(path)
    if (file.state === 'missing') return new Map()
    const facts = file.state === 'file' ? parseIndex(file.bytes.toString(), series) : undefined
    if (facts === undefined)
      this.warn(`${path} of ${this.root} cannot be read; it is made anew as windows are requested.`)
    return facts ?? new Map()
  }

  private readList<T>(treePath: string, parse: (bytes: Buffer) => T): T | undefined {
    const files = [sourceListPath(treePath), treePath].map(path => this.readFile(path))
    const file = files.find(({ state }) => state !== 'missing')
    if (file === undefined) return undefined
    try {
      return parse(file.state === 'file' ? file.bytes : Buffer.alloc(0))
    } catch (error) {
      if (!isKlinesError(error, 'bad_list')) throw error
      this.warn(`Corrupt in the mirror: ${error.message}`)
      return undefined
    }
  }

  readFile(path: string, allocate?: (size: number) => Buffer): FileRead {
    // `join` would take as long as the call itself.
    return this.reading(() => readFile(`${this.root}/${path}`, MAX_FILE_BYTES, allocate), path)
  }

  private writeFile(path: string, content: string | Uint8Array, mtimeMs = Date.now()): void {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    this.writing(() => writeFile(this.root, path, bytes, mtimeMs))
  }

  private reading<T>(action: () => T, path?: string, verb: 'read' | 'write' = 'read'): T {
    try {
      return action()
    } catch (error) {
      throw toMirrorError(error, verb, this.root, path)
    }
  }

  private writing<T>(action: () => T): T {
    return this.reading(action, undefined, 'write')
  }
}

/** What the file of a valid window is, for the index. */
export function fileOf(window: WindowRef, { batch, bytes }: Pick<CachedWindow, 'batch' | 'bytes'>): WindowFile {
  const counter = new GapCounter(window)
  counter.add(batch)
  const { candles, gaps, missing } = counter.totals
  return { size: bytes.length, sha256: sha256(bytes), ...endsOf(batch), candles, gaps, missing }
}

function endsOf({ firstOpenTime: first, lastOpenTime: last }: KlineBatch): WindowEnds {
  return { first, last }
}

/**
 * When a window was last modified, ms UTC, as clients are told: when its source rendered it, else the close of its last
 * candle, or its start when it is empty. Never the time of a file, and never one that makes a window final for them that
 * is open here: a copy must not make short windows look whole.
 */
export function lastModified(
  window: WindowRef,
  batch: KlineBatch,
  facts: WindowFacts | undefined,
  state: State,
): number {
  const { startTime, endTime } = windowSpan(window)
  if (facts?.rendered === undefined) return batch.length === 0 ? startTime : batch.closeTime(batch.length - 1) + 1
  return state === 'final' ? facts.rendered : Math.min(facts.rendered, endTime + SETTLING_MS - 1000)
}
