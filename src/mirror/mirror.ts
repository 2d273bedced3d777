import { statSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../fs/checksum.js'
import { isDiskFull } from '../fs/errno.js'
import { makeFolder } from '../fs/make-folder.js'
import { checkWritableFolder } from '../fs/writable-folder.js'
import { isExchange, SAMPLE } from '../http/base-url.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { borrowWindow, decodeWindow } from '../klines/batch/window-codec.js'
import { isKlinesError, KlinesError } from '../klines/errors.js'
import { exchangeStartDates } from '../klines/exchange-calendar.js'
import { EXCHANGE_INTERVALS, type Interval, isMinutes } from '../klines/intervals.js'
import { Kernel } from '../klines/kernel/kernel.js'
import { parseSymbols } from '../klines/lists.js'
import { SYMBOLS_PATH, startDatesPath, windowPath } from '../klines/paths.js'
import { type Series, type WindowRef, windowOf } from '../klines/series.js'
import { SYMBOLS, type SymbolName } from '../klines/symbols.js'
import { knownStartDates, windowSpan } from '../klines/windows.js'
import { EndsRead } from './ends-read.js'
import {
  type FileRead,
  type FileSnapshot,
  type FileVersion,
  listFolder,
  removeSynced,
  writeFile,
} from './file-store.js'
import {
  isFinal,
  isFinalOfExchange,
  isLate,
  needsSecondAnswer,
  reachesEnd,
  settledTime,
  spansWindow,
  type WindowEnds,
} from './finality.js'
import { LastPopulated } from './last-populated.js'
import { CACHE_TAG, CACHE_TAG_FILE, encodeMeta, layoutOf, META_FILE, type MirrorMeta, readMeta } from './meta.js'
import { MirrorFiles } from './mirror-files.js'
import { MirrorRecord } from './record.js'
import type { RecordedWindow, WindowTimes } from './record-lines.js'
import { hasInterval, hasStartDates, listStartDates, listSymbolFolders, listSymbols } from './series-folder.js'
import { sweepTemps } from './temps.js'

/** An empty window is `[]`; a larger file has rows or is corrupt. */
export const EMPTY_WINDOW_BYTES = 2

/** SHA-256 of `[]`, the only valid window of two bytes. */
const EMPTY_SHA256 = '4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945'

/** The rows of a cached window, and its file. */
export interface BorrowedWindow extends FileVersion {
  readonly state: 'cached'
  readonly batch: KlineBatch
  /** The bytes of the file; valid as long as the batch. */
  readonly bytes: Uint8Array
}

/** A cached window, and whether it can change no more. */
export interface CachedWindow extends BorrowedWindow {
  /** What the service said about it; undefined when its file is not as recorded. */
  readonly times: WindowTimes | undefined
  readonly final: boolean
}

/** What is known of the file of a window, to compare it with the record. */
export interface KnownFile extends Pick<FileVersion, 'size' | 'mtimeMs'> {
  /** Its content, if it was read. */
  readonly bytes?: Uint8Array
  /** SHA-256 of its content in hex, if that is known. */
  readonly sha256?: string
}

/** A window that the mirror lacks, or whose content is corrupt: the error describes the fault. */
export type NoWindow = { readonly state: 'missing' } | { readonly state: 'corrupt'; readonly error: KlinesError }

/**
 * The file tree on disk: `root/api/klines/...`, with the paths of the URLs. Any number of processes may share it: files are
 * written aside and renamed, and an open file is not affected.
 */
export class Mirror extends MirrorFiles {
  /** What the service has said about the windows. A bare tree has none. */
  readonly record: MirrorRecord
  private readonly kernel = new Kernel()
  private readonly populated: LastPopulated
  private readonly endsRead = new EndsRead()

  /** `source`: the base address that it is opened for. Default: the one that `mirror.json` says, once it is there. */
  constructor(
    root: string,
    private source?: string,
  ) {
    super(root)
    this.populated = new LastPopulated(root)
    this.record = new MirrorRecord(root, () => this.readMeta() !== undefined)
  }

  /**
   * Reads `mirror.json`; undefined for a bare tree, whose source is unknown, and with a warning when the file is unreadable.
   * Throws `mirror_mismatch` for the layout of another version.
   */
  readMeta(warn: (warning: string) => void = () => {}): MirrorMeta | undefined {
    const read = readMeta(this.root)
    if (read.state === 'unreadable') {
      const path = join(this.root, META_FILE)
      warn(`${path} cannot be read: ${read.reason}. The mirror counts as not complete, and its source as unknown.`)
    }
    return read.state === 'read' ? read.meta : undefined
  }

  /** The base address that the mirror is opened for, or else the one that `mirror.json` says; undefined for a bare tree. */
  get baseUrl(): string | undefined {
    // Every window asks; the file is read once it is there, because a mirror never changes its source.
    this.source ??= this.findSource()
    return this.source
  }

  /** Whether this is a mirror of the exchange, where a window is final a day after its end, whatever it has. */
  get isOfExchange(): boolean {
    return isExchange(this.baseUrl)
  }

  private findSource(): string | undefined {
    try {
      return this.readMeta()?.baseUrl
    } catch (error) {
      // Whoever needs more than the source refuses the layout of another version.
      if (isKlinesError(error, 'mirror_mismatch')) return undefined
      throw error
    }
  }

  /**
   * Whether a window of a series is empty when it has no file: the mirror is complete, it has a list of the interval, and its
   * list of symbols, if it has one, names the symbol. Not of 1m, 3m and 5m, whose lists end with the day of the download.
   */
  covers({ symbol, interval }: Series): boolean {
    if (isMinutes(interval)) return false
    if (!this.readMeta()?.complete || this.version(startDatesPath(interval)) === undefined) return false
    return this.version(SYMBOLS_PATH) === undefined || this.listedSymbols().includes(symbol)
  }

  /** Writes into `mirror.json`, once it is there, whether the mirror is complete. Throws `mirror_unusable`. */
  setComplete(complete: boolean, now: number): void {
    const meta = this.readMeta()
    if (!meta || meta.complete === complete) return
    this.writing(() => writeFile(this.root, META_FILE, encodeMeta(meta.baseUrl, complete), now, { sync: true }))
  }

  /**
   * Says in `mirror.json` that the mirror is not complete, before a file of it goes: a removal that stops half way must not leave
   * windows that count as empty. A full disk cannot take another version of that file: then it goes. Throws `mirror_unusable`.
   */
  giveUpCompleteness(now: number): void {
    try {
      this.setComplete(false, now)
    } catch (error) {
      if (!isKlinesError(error, 'mirror_unusable') || !isDiskFull(error.cause)) throw error
      this.writing(() => removeSynced(join(this.root, META_FILE)))
    }
  }

  /** Throws `mirror_mismatch` when this is a mirror of another base address. */
  checkBase(baseUrl: string): void {
    const meta = this.readMeta()
    if (!meta || meta.baseUrl === baseUrl) return
    throw new KlinesError('mirror_mismatch', `${this.root} is a mirror of ${meta.baseUrl}, not of ${baseUrl}.`, {
      suggestions: [`Name another folder with \`mirror\`, or that address with \`baseUrl: '${meta.baseUrl}'\`.`],
      data: { mirror: this.root, mirrorBaseUrl: meta.baseUrl, baseUrl },
    })
  }

  /**
   * Checks that files of `baseUrl` can be stored here, and removes the temp files of dead processes. Creates nothing. Throws
   * `mirror_mismatch`, and `mirror_unusable` when the folder could not become a mirror.
   */
  checkWritable(baseUrl: string, now: number): void {
    this.checkBase(baseUrl)
    this.writing(() => {
      sweepTemps(this.root, now)
      if (this.readMeta() === undefined) checkWritableFolder(this.root)
    })
  }

  /**
   * Makes the folder a mirror of `baseUrl` unless it is one already, gives it the layout of this version, and removes the temp files
   * of dead processes.
   */
  prepare(baseUrl: string, now: number): void {
    this.checkBase(baseUrl)
    this.writing(() => {
      const isEmpty = listFolder(this.root).length === 0
      makeFolder(this.root)
      if (isEmpty) writeFile(this.root, CACHE_TAG_FILE, Buffer.from(CACHE_TAG), now)
      const meta = this.readMeta()
      // What is left of another mirror.
      if (meta === undefined) this.record.remove()
      if (meta === undefined || meta.layout < layoutOf(baseUrl))
        writeFile(this.root, META_FILE, encodeMeta(baseUrl, meta?.complete), now, { sync: true })
      sweepTemps(this.root, now)
    })
  }

  /**
   * Reads and checks a window, and whether it is final. Throws `mirror_unusable` for one that cannot be read, which is not a corrupt
   * one.
   */
  readWindow(window: WindowRef): CachedWindow | NoWindow {
    const read = this.loadWindow(window)
    if (read.state !== 'cached') return read
    // Most windows are final by themselves, and have no record.
    const isKnown = !this.isFilled(window, read.batch) || this.record.window(windowPath(window)) !== undefined
    const times = isKnown ? this.findTimes(window, read) : undefined
    return { ...read, times, final: this.isFinal(window, read.batch, times) }
  }

  /** Reads and checks a window in memory of its own. Throws `mirror_unusable` for one that cannot be read. */
  readRows(window: WindowRef): BorrowedWindow | NoWindow {
    return this.loadWindow(window)
  }

  /** The same in the memory of `kernel`: its batch is valid until the kernel reads another one. */
  borrowWindow(window: WindowRef, kernel = this.kernel): BorrowedWindow | NoWindow {
    return this.loadWindow(window, kernel)
  }

  /**
   * What the service said about the cached version of a window; undefined when its file is not as recorded: then its own time says
   * nothing, because copies have the time of copying. A bare tree has no record, only the times of its files, and the sample needs
   * none: it gets no candle any more. Throws `mirror_unusable`.
   */
  findTimes(window: WindowRef, file: KnownFile): WindowTimes | undefined {
    if (this.baseUrl === undefined || this.baseUrl === SAMPLE) return { time: file.mtimeMs, confirmed: file.mtimeMs }
    const path = windowPath(window)
    const recorded = this.record.window(path)
    if (recorded && this.hasContent(path, file, recorded)) return recorded
    if (file.bytes === undefined) return undefined
    // Another process may have stored and recorded what was read.
    this.record.refresh()
    const latest = this.record.window(path)
    return latest && latest !== recorded && this.hasContent(path, file, latest) ? latest : undefined
  }

  /** Whether a file has a recorded content. It is read only if nothing else tells. */
  private hasContent(path: string, file: KnownFile, { size, time, confirmed, ...recorded }: RecordedWindow): boolean {
    if (size !== file.size) return false
    if (file.sha256 !== undefined) return file.sha256 === recorded.sha256
    if (size === EMPTY_WINDOW_BYTES) return recorded.sha256 === EMPTY_SHA256
    if (file.bytes !== undefined) return sha256(file.bytes) === recorded.sha256
    if ([time, confirmed].some(stored => Math.abs(stored - file.mtimeMs) < 1)) return true
    const read = this.readBytes(path)
    return read.state === 'file' && sha256(read.bytes) === recorded.sha256
  }

  /** Whether the candles of a window say that it has all of them, whatever the service says. */
  isFilled(window: WindowRef, ends: WindowEnds): boolean {
    return this.isOfExchange ? spansWindow(window, ends) : reachesEnd(window, ends.lastOpenTime)
  }

  /** Whether a cached window with these candles can change no more. `times`: what the service said about it, if that is known. */
  isFinal(window: WindowRef, ends: WindowEnds, times: WindowTimes | undefined): boolean {
    if (this.isOfExchange) return isFinalOfExchange(window, ends, times)
    return isFinal(window, ends, { time: times?.time, lastPopulated: () => this.lastPopulated(window) })
  }

  /** When the service rendered a window, ms UTC: the exchange renders it for each answer. */
  renderedTime({ time, confirmed }: WindowTimes): number {
    return this.isOfExchange ? confirmed : time
  }

  /**
   * Until when a cached window has all candles that closed, ms UTC: one that it lacks and another series of the symbol has is a fault.
   * Of one that was changed since it was recorded, only the time of its file is left, and that of a static service says nothing.
   * Throws `mirror_unusable`.
   */
  settledUntil(window: WindowRef, { batch, ...file }: BorrowedWindow): number {
    if (reachesEnd(window, batch.lastOpenTime)) return Infinity
    const isRecorded = this.record.window(windowPath(window)) !== undefined
    const times = isRecorded ? this.findTimes(window, file) : undefined
    if (this.isOfExchange && isLate(window, times?.confirmed ?? file.mtimeMs)) return Infinity
    return times === undefined ? -Infinity : settledTime(this.isOfExchange, times)
  }

  /**
   * When a cached window was last modified, ms UTC, as those who get it from here are told: it makes no window final for them that is
   * not final here. Without a recorded time, and until a second answer agrees with the first, that is the end of the last candle.
   */
  lastModified(window: WindowRef, batch: KlineBatch, file: KnownFile, times: WindowTimes | undefined): number {
    const isUnsure = times && this.isOfExchange && needsSecondAnswer(window, batch, times)
    if (times && !isUnsure) return this.renderedTime(times)
    if (reachesEnd(window, batch.lastOpenTime)) return file.mtimeMs
    const closeTime = batch.length === 0 ? windowSpan(window).startTime : batch.closeTime(batch.length - 1) + 1
    return Math.min(closeTime, file.mtimeMs)
  }

  /**
   * Whether a window is one of the exchange that is final, so that it has all its candles. A static service renders windows when it
   * likes, and says nothing about candles that are not there. `unstored`: a file that is not in the mirror; default: the cached one.
   * `known`: its candles, if they are known. Throws `mirror_unusable`.
   */
  isWhole(window: WindowRef, unstored?: FileSnapshot, known?: WindowEnds): boolean {
    if (!this.isOfExchange) return false
    if (unstored) {
      const times = { time: unstored.mtimeMs, confirmed: unstored.mtimeMs }
      return this.isFinal(window, decodeWindow(unstored.bytes, window), times)
    }
    const file = this.version(windowPath(window))
    if (!file) return false
    return this.isFinal(window, known ?? this.findEnds(window, file), this.findTimes(window, file))
  }

  /** The first and the last candle of a window's file; none of an empty or corrupt one. */
  private findEnds(window: WindowRef, file: FileVersion): WindowEnds {
    const known = this.endsRead.find(window, file)
    if (known) return known
    const read = this.borrowWindow(window)
    return read.state === 'cached'
      ? { firstOpenTime: read.batch.firstOpenTime, lastOpenTime: read.batch.lastOpenTime }
      : {}
  }

  /** Whether a later window of the series has candles. */
  hasLaterCandles(window: WindowRef): boolean {
    return (this.lastPopulated(window) ?? '') > window.startDate
  }

  /** Whether any window of a series is cached, valid or not. */
  hasSeries(series: Series): boolean {
    return this.reading(() => hasStartDates(this.root, series))
  }

  /** Whether a window of a series is cached, or the record knows candles of it. Throws `mirror_unusable`. */
  hadSeries(series: Series): boolean {
    return this.hasSeries(series) || this.record.seriesCandles(series) !== undefined
  }

  /** The startDates of a series' cached windows, valid or not, ascending. */
  cachedStartDates(series: Series): string[] {
    return this.reading(() => listStartDates(this.root, series))
  }

  /** The symbols with a cached window, valid or not: the ten of the public service first, then the others by name. */
  symbols(): SymbolName[] {
    return this.reading(() => listSymbols(this.root))
  }

  /** The symbols that may have cached windows of an interval. */
  symbolFolders(interval: Interval): SymbolName[] {
    return this.reading(() => listSymbolFolders(this.root, interval))
  }

  /** The symbols of the mirror's list; none when the list is missing or corrupt. */
  listedSymbols(): SymbolName[] {
    const file = this.readBytes(SYMBOLS_PATH)
    if (file.state !== 'file') return []
    try {
      return parseSymbols(file.bytes)
    } catch (error) {
      if (isKlinesError(error, 'bad_list')) return []
      throw error
    }
  }

  /** Whether the source has a symbol, as far as the mirror knows: one of the ten, for a static service. */
  hasSymbol(symbol: SymbolName): boolean {
    if (!this.isOfExchange && (SYMBOLS as readonly SymbolName[]).includes(symbol)) return true
    return (
      this.listedSymbols().includes(symbol) || EXCHANGE_INTERVALS.some(interval => this.hasSeries({ symbol, interval }))
    )
  }

  /** The startDate of the first cached window of a series that has candles, by file size. */
  firstPopulated(series: Series): string | undefined {
    return this.cachedStartDates(series).find(
      startDate => this.windowSize(windowOf(series, startDate)) > EMPTY_WINDOW_BYTES,
    )
  }

  /** The open time of the first cached candle of a series, ms UTC. */
  firstOpenTime(series: Series): number | undefined {
    for (const startDate of this.cachedStartDates(series)) {
      const read = this.borrowWindow(windowOf(series, startDate))
      if (read.state === 'cached' && read.batch.length > 0) return read.batch.openTime(0)
    }
    return undefined
  }

  /**
   * When the first candle of a 3d series opens, if it lies in a cached window before this one, ms UTC: the grid is counted from it.
   * Undefined for other intervals. Throws `mirror_unusable`.
   */
  gridAnchor(window: WindowRef): number | undefined {
    if (window.interval !== '3d') return undefined
    for (const startDate of this.cachedStartDates(window)) {
      if (startDate >= window.startDate) break
      const read = this.loadWindow(windowOf(window, startDate))
      if (read.state === 'cached' && read.batch.length > 0) return read.batch.openTime(0)
    }
    return undefined
  }

  /**
   * What is known of a window at `now` (ms UTC) by its file, which is not read, and the record. An empty window that the service sent
   * before it began, and that has begun since, is `outdated`; one of the exchange also when it has ended and was sent before that.
   * So is an empty one that has begun and is not as recorded. A corrupt file counts as `cached`.
   */
  fileState(window: WindowRef, now: number): 'cached' | 'outdated' | 'missing' {
    const file = this.version(windowPath(window))
    if (!file) return 'missing'
    const isEmpty = file.size === EMPTY_WINDOW_BYTES
    if (!isEmpty && !this.isOfExchange) return 'cached'
    const times = this.findTimes(window, file)
    // Without a record, candles may reach the end of their window; those who read it know.
    const time = times ? this.renderedTime(times) : isEmpty ? -Infinity : Infinity
    return this.isOutdated(window, { isEmpty, time }, now) ? 'outdated' : 'cached'
  }

  /** Whether a window that was rendered at `time` (ms UTC) may have got candles by `now`, as `fileState` says. */
  isOutdated(window: WindowRef, { isEmpty, time }: { isEmpty: boolean; time: number }, now: number): boolean {
    const { startTime, endTime } = windowSpan(window)
    const isUnknown = isEmpty && time < startTime && startTime <= now
    const isPartial = this.isOfExchange && time < endTime && endTime <= now
    return isUnknown || isPartial
  }

  /** Size of a window file, bytes; 0 when it is missing. */
  windowSize(window: WindowRef): number {
    const path = windowPath(window)
    return this.reading(() => statSync(join(this.root, path), { throwIfNoEntry: false })?.size ?? 0, path)
  }

  /** The startDates of an interval that this version knows of the mirror's source at `now` (ms UTC), ascending. */
  builtInStartDates(interval: Interval, now: number): string[] {
    return this.isOfExchange ? exchangeStartDates(interval, now) : knownStartDates(interval)
  }

  /** The intervals that the mirror may have: those of its source, and others of which it has a list or a window. */
  intervals(): Interval[] {
    const isThere = (interval: Interval) =>
      this.version(startDatesPath(interval)) !== undefined || this.reading(() => hasInterval(this.root, interval))
    return EXCHANGE_INTERVALS.filter(interval => this.isOfExchange || !isMinutes(interval) || isThere(interval))
  }

  /** The file with the list of startDates, not parsed. */
  startDatesFile(interval: Interval): FileRead {
    return this.readBytes(startDatesPath(interval))
  }

  private lastPopulated(window: WindowRef): string | undefined {
    return this.reading(() => this.populated.find(window))
  }

  private loadWindow(window: WindowRef, kernel?: Kernel): BorrowedWindow | NoWindow {
    const path = windowPath(window)
    const anchor = this.gridAnchor(window)
    const file = this.reading(() => this.readFile(path, kernel && (size => kernel.buffer(size))), path)
    if (file.state === 'missing') return file
    try {
      if (file.state === 'corrupt') throw new KlinesError('bad_window', `${join(this.root, path)} is ${file.reason}`)
      const batch = kernel ? borrowWindow(file.bytes, window, kernel, anchor) : decodeWindow(file.bytes, window, anchor)
      if (this.isOfExchange) this.endsRead.add(window, file, batch)
      return { ...file, state: 'cached', batch, size: file.bytes.length }
    } catch (error) {
      // Only content is corrupt: a window that was not read must not be replaced by a shorter one.
      if (isKlinesError(error, 'bad_window')) return { state: 'corrupt', error }
      throw error
    }
  }
}
