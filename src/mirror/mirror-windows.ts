import { join } from 'node:path'
import { sha256 } from '../fs/checksum.js'
import type { FileSnapshot, FileVersion } from '../fs/read-file.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { decodeInPlace, decodeWindow } from '../klines/batch/window-codec.js'
import { isKlinesError, KlinesError } from '../klines/errors.js'
import { Kernel } from '../klines/kernel/kernel.js'
import { windowPath } from '../klines/paths.js'
import { type Series, type WindowRef, windowOf } from '../klines/series.js'
import { windowSpan } from '../klines/windows.js'
import type { TreeRules } from '../trees/tree-rules.js'
import { isLate, LATE_MS, reachesEnd, type WindowEnds, type WindowTimes } from '../trees/window-ends.js'
import { EMPTY_WINDOW_BYTES, type MirrorContents } from './mirror-contents.js'
import type { MirrorFiles } from './mirror-files.js'
import type { MirrorRecord } from './record.js'
import type { RecordedWindow } from './record-lines.js'
import { EndsRead, LastPopulated } from './windows-read.js'

/** SHA-256 of `[]`, the only valid window of two bytes. */
const EMPTY_SHA256 = '4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945'

/** The rows of a cached window, and its file. */
export interface WindowRows extends FileVersion {
  readonly state: 'cached'
  readonly batch: KlineBatch
  /** The bytes of the file; valid as long as the batch. */
  readonly bytes: Uint8Array
}

/** A cached window, and whether it can change no more. */
export interface CachedWindow extends WindowRows {
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

/** The windows of a mirror: their rows, and whether they can change. All methods throw `mirror_unusable`. */
export class MirrorWindows {
  private readonly kernel = new Kernel()
  private readonly populated: LastPopulated
  private readonly endsRead = new EndsRead()

  /** `mirror`: whose rules are known once its source is. */
  constructor(
    private readonly files: MirrorFiles,
    private readonly record: MirrorRecord,
    private readonly contents: MirrorContents,
    private readonly mirror: { readonly rules: TreeRules },
  ) {
    this.populated = new LastPopulated(files, contents)
  }

  /**
   * Reads and checks a window, and whether it is final. Throws `mirror_unusable` for one that cannot be read, which is not a corrupt
   * one.
   */
  read(window: WindowRef): CachedWindow | NoWindow {
    const read = this.readRows(window)
    if (read.state !== 'cached') return read
    // Most windows are final by themselves, and have no record.
    const isKnown =
      !this.mirror.rules.isFilled(window, read.batch) || this.record.window(windowPath(window)) !== undefined
    const times = isKnown ? this.timesOf(window, read) : undefined
    return { ...read, times, final: this.isFinal(window, read.batch, times) }
  }

  /** Reads and checks a window, in memory of its own or in that of `kernel`. */
  readRows(window: WindowRef, kernel?: Kernel): WindowRows | NoWindow {
    const path = windowPath(window)
    const anchor = this.gridAnchor(window)
    const file = this.files.read(path, kernel && (size => kernel.buffer(size)))
    if (file.state === 'missing') return file
    try {
      if (file.state === 'corrupt') {
        throw new KlinesError('bad_window', `${join(this.files.root, path)} is ${file.reason}`)
      }
      const batch = kernel
        ? decodeInPlace(file.bytes, window, kernel, anchor)
        : decodeWindow(file.bytes, window, anchor)
      if (this.mirror.rules.rendersAnswers) this.endsRead.add(window, file, batch)
      return { ...file, state: 'cached', batch, size: file.bytes.length }
    } catch (error) {
      // Only content is corrupt: a window that was not read must not be replaced by a shorter one.
      if (isKlinesError(error, 'bad_window')) return { state: 'corrupt', error }
      throw error
    }
  }

  /** The same always in the memory of a kernel: its batch is valid until another window is read there. */
  readInPlace(window: WindowRef, kernel = this.kernel): WindowRows | NoWindow {
    return this.readRows(window, kernel)
  }

  /**
   * What the service said about the cached version of a window; undefined when its file is not as recorded: then its own time says
   * nothing, because copies have the time of copying. Where the rules trust the times of files, nothing is recorded.
   */
  timesOf(window: WindowRef, file: KnownFile): WindowTimes | undefined {
    if (this.mirror.rules.trustsFileTimes) return { time: file.mtimeMs, confirmed: file.mtimeMs }
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
    const read = this.files.read(path)
    return read.state === 'file' && sha256(read.bytes) === recorded.sha256
  }

  /** Whether a cached window with these candles can change no more. `times`: what the service said about it, if that is known. */
  isFinal(window: WindowRef, ends: WindowEnds, times: WindowTimes | undefined): boolean {
    return this.mirror.rules.isFinal(window, ends, times, () => this.hasLaterCandles(window))
  }

  /** When the service rendered a window, ms UTC. */
  renderedTime({ time, confirmed }: WindowTimes): number {
    return this.mirror.rules.rendersAnswers ? confirmed : time
  }

  /**
   * Until when a cached window has all candles that closed, ms UTC: one that it lacks and another series of the symbol has is a fault.
   * Of one that was changed since it was recorded, only the time of its file is left, and that of a static service says nothing.
   */
  settledUntil(window: WindowRef, { batch, ...file }: WindowRows): number {
    if (reachesEnd(window, batch.lastOpenTime)) return Infinity
    const { rules } = this.mirror
    const isRecorded = this.record.window(windowPath(window)) !== undefined
    const times = isRecorded ? this.timesOf(window, file) : undefined
    if (rules.rendersAnswers && isLate(window, times?.confirmed ?? file.mtimeMs)) return Infinity
    return times === undefined ? -Infinity : rules.settledTime(times)
  }

  /**
   * Until when a cached window is what it will always be, ms UTC: a candle that ended by then does not change any more, and none is
   * added. That is a day before the service rendered it; -Infinity where nobody knows when that was. Of a window that is filled to its
   * end nothing may be recorded: then the time of its file counts. `ends`: of all its candles; `now`: the present, ms UTC.
   */
  finalUntil(window: WindowRef, file: KnownFile, ends: WindowEnds, now: number): number {
    const { rules } = this.mirror
    if (rules.trustsFileTimes) return now - LATE_MS
    const isRecorded = this.record.window(windowPath(window)) !== undefined
    if (!isRecorded && rules.isFilled(window, ends)) return Math.min(file.mtimeMs, now) - LATE_MS
    const times = this.timesOf(window, file)
    return times === undefined ? -Infinity : Math.min(this.renderedTime(times), now) - LATE_MS
  }

  /**
   * When a cached window was last modified, ms UTC, as those who get it from here are told: it makes no window final for them that is
   * not final here. Without a recorded time that is the end of the last candle.
   */
  lastModified(window: WindowRef, batch: KlineBatch, file: KnownFile, times: WindowTimes | undefined): number {
    if (times) return this.renderedTime(times)
    if (reachesEnd(window, batch.lastOpenTime)) return file.mtimeMs
    const closeTime = batch.length === 0 ? windowSpan(window).startTime : batch.closeTime(batch.length - 1) + 1
    return Math.min(closeTime, file.mtimeMs)
  }

  /**
   * Whether a window is final in such a way that it lacks no candle. `unstored`: a file that is not in the mirror; default: the
   * cached one. `known`: its candles, if they are known.
   */
  hasAllCandles(window: WindowRef, unstored?: FileSnapshot, known?: WindowEnds): boolean {
    if (!this.mirror.rules.rendersAnswers) return false
    if (unstored) {
      const times = { time: unstored.mtimeMs, confirmed: unstored.mtimeMs }
      return this.isFinal(window, decodeWindow(unstored.bytes, window), times)
    }
    const file = this.files.version(windowPath(window))
    if (!file) return false
    return this.isFinal(window, known ?? this.findEnds(window, file), this.timesOf(window, file))
  }

  /** The first and the last candle of a window's file; none of an empty or corrupt one. */
  private findEnds(window: WindowRef, file: FileVersion): WindowEnds {
    const known = this.endsRead.find(window, file)
    if (known) return known
    // Not in place: a loop may have a batch there.
    const read = this.readRows(window)
    return read.state === 'cached'
      ? { firstOpenTime: read.batch.firstOpenTime, lastOpenTime: read.batch.lastOpenTime }
      : {}
  }

  /** Whether a later window of the series has candles. */
  hasLaterCandles(window: WindowRef): boolean {
    return (this.populated.find(window) ?? '') > window.startDate
  }

  /** The open time of the first cached candle of a series, ms UTC. `before`: only windows that start earlier count. */
  firstOpenTime(series: Series, before?: string): number | undefined {
    for (const startDate of this.contents.startDates(series)) {
      if (before !== undefined && startDate >= before) break
      const read = this.readRows(windowOf(series, startDate))
      if (read.state === 'cached' && read.batch.length > 0) return read.batch.openTime(0)
    }
    return undefined
  }

  /**
   * When the first candle of a 3d series opens, if it lies in a cached window before this one, ms UTC: the grid is counted from it.
   * Undefined for other intervals.
   */
  gridAnchor(window: WindowRef): number | undefined {
    return window.interval === '3d' ? this.firstOpenTime(window, window.startDate) : undefined
  }
}
