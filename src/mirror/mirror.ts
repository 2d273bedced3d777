import { existsSync, lstatSync, mkdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { decodeWindow } from '../klines/batch/window-codec.js'
import { KlinesError } from '../klines/errors.js'
import type { Interval } from '../klines/intervals.js'
import { Kernel } from '../klines/kernel/kernel.js'
import { startDatesPath, windowPath } from '../klines/paths.js'
import type { Series, WindowRef } from '../klines/series.js'
import { isStartDate } from '../klines/windows.js'
import { mirrorError } from './errors.js'
import {
  type FileRead,
  type FileSnapshot,
  type FileVersion,
  listFolder,
  readFile,
  sweepTemps,
  writeFile,
} from './file-store.js'
import { isFinal } from './finality.js'
import { encodeMeta, META_FILE, type MirrorMeta, readMeta } from './meta.js'

/** https://bford.info/cachedir/: backup tools pass such a folder by. */
export const CACHE_TAG_FILE = 'CACHEDIR.TAG'
export const CACHE_TAG =
  'Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of klines; it can be fetched again.\n'
/** An empty window is `[]`; anything longer holds rows (or is broken). */
export const EMPTY_WINDOW_BYTES = 2

const WINDOW_SUFFIX = '.json'

/** What was found when a series was last looked through. */
interface Populated {
  /** The latest startDate that holds candles. */
  readonly startDate: string | undefined
  /** Modification time of the series' folder then, ms: a file that comes changes it. */
  readonly folderTime: number | undefined
}

/** The rows of a cached window; `mtimeMs` is the modification time of its file. */
export interface BorrowedWindow {
  readonly state: 'cached'
  readonly batch: KlineBatch
  readonly mtimeMs: number
}

/** A cached window, and whether it can change no more. */
export interface CachedWindow extends BorrowedWindow {
  readonly final: boolean
}

/** A window that the mirror lacks, or whose file is corrupt: the error describes the fault. */
export type NoWindow = { readonly state: 'missing' } | { readonly state: 'corrupt'; readonly error: KlinesError }

/**
 * The file tree on disk, `root/api/klines/...` as the URLs. A file that is there is whole and valid, or counts as absent.
 * Any number of processes may share it: files are written aside and renamed, readers keep what they opened.
 */
export class Mirror {
  private readonly kernel = new Kernel()
  private readonly populated = new Map<string, Populated>()

  constructor(readonly root: string) {}

  /** Whether there is a tree to read. */
  get exists(): boolean {
    return existsSync(join(this.root, 'api', 'klines'))
  }

  /** What `mirror.json` says; undefined for a bare tree. Throws `mirror_mismatch` when it is not ours to read. */
  readMeta(): MirrorMeta | undefined {
    return readMeta(this.root)
  }

  /** Throws `mirror_mismatch` when this is a mirror of another base address. */
  checkBase(baseUrl: string): void {
    const meta = this.readMeta()
    if (!meta || meta.baseUrl === baseUrl) return
    throw new KlinesError('mirror_mismatch', `${this.root} is a mirror of ${meta.baseUrl}, not of ${baseUrl}.`, {
      suggestions: [`Name another folder with --mirror, or that address with --base-url ${meta.baseUrl}.`],
      data: { mirror: this.root, mirrorBaseUrl: meta.baseUrl, baseUrl },
    })
  }

  /** Makes the folder a mirror of `baseUrl`, or finds that it is one, and sweeps what dead processes left. */
  prepare(baseUrl: string, now: number): void {
    this.checkBase(baseUrl)
    try {
      const fresh = listFolder(this.root).length === 0
      mkdirSync(this.root, { recursive: true })
      if (fresh) writeFile(this.root, CACHE_TAG_FILE, Buffer.from(CACHE_TAG), now)
      if (this.readMeta() === undefined) writeFile(this.root, META_FILE, encodeMeta(baseUrl), now)
      sweepTemps(this.root, now)
    } catch (error) {
      throw mirrorError(error, 'write', this.root)
    }
  }

  /** Reads a file of the tree (`api/klines/...`). Throws `mirror_unusable`. */
  readBytes(path: string): FileRead {
    return this.reading(() => readFile(join(this.root, path)))
  }

  /** Which version of a file of the tree is there now; undefined when none is. A link is a file of its own. */
  version(path: string): FileVersion | undefined {
    return this.reading(() => lookAt(join(this.root, path)))
  }

  /** Whether a file's folder lies inside the mirror, links followed. */
  contains(path: string): boolean {
    try {
      const root = realpathSync.native(this.root)
      const folder = realpathSync.native(dirname(join(this.root, path)))
      return folder === root || folder.startsWith(root + sep)
    } catch {
      return false
    }
  }

  /** Stores the bytes of a file of the tree, whole or not at all. Throws `mirror_unusable`. */
  writeBytes(path: string, bytes: Uint8Array, mtimeMs: number): void {
    try {
      writeFile(this.root, path, bytes, mtimeMs)
    } catch (error) {
      throw mirrorError(error, 'write', this.root)
    }
  }

  /** Reads and checks a window. */
  readWindow(window: WindowRef): CachedWindow | NoWindow {
    const read = this.read(window)
    return read.state !== 'cached' ? read : { ...read, final: this.isFinal(window, read.batch, read.mtimeMs) }
  }

  /** Whether a held window with these rows and this modification time (ms) can change no more. */
  isFinal(window: WindowRef, batch: KlineBatch, mtimeMs: number): boolean {
    return isFinal(window, batch, { mtimeMs, lastPopulated: () => this.lastPopulated(window) })
  }

  /** Whether a later window of the series holds candles, which makes one that was rendered late final. */
  isFollowed(window: WindowRef): boolean {
    return (this.lastPopulated(window) ?? '') > window.startDate
  }

  /**
   * The rows of a held window for a look: the buffers are used again, so the batch is good until the next one is read so.
   * Otherwise as `readWindow`; whether the window is final is not asked.
   */
  borrowWindow(window: WindowRef, kernel = this.kernel): BorrowedWindow | NoWindow {
    return this.read(window, kernel)
  }

  /** Whether any window of a series is held, whatever is in it. */
  hasSeries(series: Series): boolean {
    return this.windowFiles(series).some(name => isWindowFile(series.interval, name))
  }

  /** The startDates held of a series, ascending, whatever is in the files. */
  cachedStartDates(series: Series): string[] {
    return this.windowFiles(series)
      .filter(name => isWindowFile(series.interval, name))
      .map(name => name.slice(0, -WINDOW_SUFFIX.length))
  }

  /** When the first candle that is held of a series opens, ms UTC. */
  firstOpenTime(series: Series): number | undefined {
    for (const startDate of this.cachedStartDates(series)) {
      const read = this.borrowWindow({ ...series, startDate })
      if (read.state === 'cached' && read.batch.length > 0) return read.batch.openTime(0)
    }
    return undefined
  }

  /** Size in bytes of a held window file; 0 when it is not there. */
  windowSize(window: WindowRef): number {
    return this.reading(() => statSync(join(this.root, windowPath(window)), { throwIfNoEntry: false })?.size ?? 0)
  }

  /** The list of startDates as held, undefined when it is not. Not checked: `parseStartDates` does that. */
  startDatesFile(interval: Interval): FileSnapshot | undefined {
    const file = this.readBytes(startDatesPath(interval))
    return file.state === 'file' ? file : undefined
  }

  private windowFiles({ interval, symbol }: Series): string[] {
    return this.reading(() => listFolder(join(this.root, 'api', 'klines', interval, symbol)))
  }

  /** What the file system refuses is `mirror_unusable`. */
  private reading<T>(action: () => T): T {
    try {
      return action()
    } catch (error) {
      throw mirrorError(error, 'read', this.root)
    }
  }

  private read(window: WindowRef, kernel?: Kernel): BorrowedWindow | NoWindow {
    const path = join(this.root, windowPath(window))
    try {
      const file = kernel ? readFile(path, size => kernel.buffer(size)) : readFile(path)
      if (file.state === 'missing') return { state: 'missing' }
      if (file.state === 'not_regular') throw new KlinesError('bad_window', `${path} is not a regular file`)
      return { state: 'cached', batch: decodeWindow(file.bytes, window, kernel), mtimeMs: file.mtimeMs }
    } catch (error) {
      return { state: 'corrupt', error: mirrorError(error, 'read', this.root) }
    }
  }

  /**
   * The latest startDate of a window's series whose file holds sound candles; any that is later than the window will do. The
   * series is looked through once, and again when its folder has changed since nothing later was found.
   */
  private lastPopulated({ interval, symbol, startDate }: WindowRef): string | undefined {
    const key = `${interval}/${symbol}`
    const known = this.populated.get(key)
    if ((known?.startDate ?? '') > startDate) return known?.startDate
    const folder = join(this.root, 'api', 'klines', key)
    // With the dot it is the folder that a link leads to: a link's own time stays as it is.
    const folderTime = this.reading(() => lookAt(`${folder}/.`)?.mtimeMs)
    if (known && known.folderTime === folderTime) return known.startDate
    const found = { startDate: this.findLastPopulated({ interval, symbol }), folderTime }
    this.populated.set(key, found)
    return found.startDate
  }

  private findLastPopulated(series: Series): string | undefined {
    return this.cachedStartDates(series).findLast(startDate => {
      const window = { ...series, startDate }
      if (this.windowSize(window) <= EMPTY_WINDOW_BYTES) return false
      const file = this.readBytes(windowPath(window))
      try {
        return file.state === 'file' && decodeWindow(file.bytes, window).length > 0
      } catch {
        return false
      }
    })
  }
}

function isWindowFile(interval: Interval, name: string): boolean {
  return name.endsWith(WINDOW_SUFFIX) && isStartDate(interval, name.slice(0, -WINDOW_SUFFIX.length))
}

/** What is known of what stands at a path, a link for itself; undefined when there is no such path. */
function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOTDIR' || code === 'ELOOP') return undefined
    throw error
  }
}
