import { closeSync, constants, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import { errnoCode } from '../fs/errno.js'
import type { Series } from '../klines/series.js'
import { isSymbol, type SymbolName } from '../klines/symbols.js'
import { toMirrorError } from './errors.js'
import { writeFile } from './file-store.js'
import {
  formatRecordLine,
  MAX_LINE_BYTES,
  parseRecordLine,
  type RecordedCandles,
  type RecordedWindow,
  type RecordLine,
  recordedFolder,
} from './record-lines.js'

/** The file at a mirror's root that has the record: outside of the tree, so that nothing lists, serves or publishes it. */
export const RECORD_FILE = '.klines-record'

/** Of a larger record only the end is read: 64 MiB are some 350,000 windows, and 150 MB of memory. */
const MAX_BYTES = 64 * 1024 * 1024
const CHUNK_BYTES = 1024 * 1024
/** A record with so many lines that later ones replace, and more of them than windows, is written anew. */
const MAX_REPLACED_LINES = 10_000
const LINE_END = 0x0a

const READING = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW
const APPENDING =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK | constants.O_NOFOLLOW
/** The errors of a path where no record is: nothing, a link, or something to talk to. */
const NO_RECORD = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'])

/**
 * What a service has said about the windows of a mirror whose content does not tell that they are final: a file of lines, which
 * any number of processes append, each with one write after the file of the window is in its place. The last valid line about a
 * window counts, and a torn or unknown one is ignored: to lose one costs a request, never a candle. Like all of a mirror, it may be
 * a stranger's; it says no more about the stranger's own windows than the times of files could.
 */
export class MirrorRecord {
  private readonly windows = new Map<string, RecordedWindow>()
  private readonly candles = new Map<string, RecordedCandles>()
  private isLoaded = false
  /** The file that was read, how far, and the lines up to there. */
  private inode: number | undefined
  private offset = 0
  private lines = 0
  /** How often something was learned or forgotten. */
  private changes = 0
  /** Whether the file ends within a line. */
  private isTorn = false

  /** `isOfMirror`: whether the folder is a mirror by now; before that it has no record, whatever lies there. */
  constructor(
    private readonly root: string,
    private readonly isOfMirror: () => boolean,
  ) {}

  /** The last recorded version of a window, by the path of its file. Throws `mirror_unusable` when the record cannot be read. */
  window(path: string): RecordedWindow | undefined {
    return this.allWindows.get(path)
  }

  /** The first and the last candle that the mirror has had of a series. Throws `mirror_unusable`. */
  seriesCandles(series: Series): RecordedCandles | undefined {
    return this.allCandles.get(recordedFolder(series))
  }

  /** All recorded windows, by the paths of their files. Throws `mirror_unusable`. */
  get allWindows(): ReadonlyMap<string, RecordedWindow> {
    this.load()
    return this.windows
  }

  /** All recorded series, by the paths of their folders. Throws `mirror_unusable`. */
  get allCandles(): ReadonlyMap<string, RecordedCandles> {
    this.load()
    return this.candles
  }

  /** The symbols of all recorded series. Throws `mirror_unusable`. */
  get symbols(): SymbolName[] {
    return [...new Set([...this.allCandles.keys()].map(folder => basename(folder)))].filter(isSymbol)
  }

  private load(): void {
    if (!this.isLoaded) this.refresh()
  }

  /** Reads what was appended since. Returns a number that changes with the record. Throws `mirror_unusable`. */
  refresh(): number {
    this.isLoaded = true
    try {
      if (this.isOfMirror()) this.readNew()
    } catch (error) {
      if (!NO_RECORD.has(errnoCode(error))) throw toMirrorError(error, 'read', this.root, RECORD_FILE)
    }
    return this.changes
  }

  private readNew(): void {
    const descriptor = openSync(join(this.root, RECORD_FILE), READING)
    try {
      const stat = fstatSync(descriptor)
      if (!stat.isFile()) return
      const { ino, size } = stat
      // Another file has all that counts.
      if (ino !== this.inode || size < this.offset) this.forget()
      this.inode = ino
      this.offset = Math.max(this.offset, size - MAX_BYTES)
      this.readLines(descriptor, size)
    } finally {
      closeSync(descriptor)
    }
  }

  private readLines(descriptor: number, size: number): void {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - this.offset))
    while (this.offset < size) {
      const length = readSync(descriptor, buffer, 0, buffer.length, this.offset)
      const chunk = buffer.subarray(0, length)
      let start = 0
      for (let end = chunk.indexOf(LINE_END); end !== -1; end = chunk.indexOf(LINE_END, start)) {
        if (end - start <= MAX_LINE_BYTES) this.take(parseRecordLine(chunk.toString('utf8', start, end)))
        this.lines++
        start = end + 1
      }
      this.isTorn = start < length
      // The rest is read with the next chunk, unless it is too long for a line.
      if (length - start > MAX_LINE_BYTES) start = length
      if (start === 0) return
      this.offset += start
    }
  }

  private take(line: RecordLine | undefined): void {
    this.changes++
    if (line?.kind === 'window') this.windows.set(line.path, line)
    else if (line) this.candles.set(line.folder, line)
  }

  private forget(): void {
    this.windows.clear()
    this.candles.clear()
    this.offset = 0
    this.lines = 0
    this.isTorn = false
    this.changes++
  }

  /** Keeps a line in memory alone. Throws `mirror_unusable`. */
  remember(line: RecordLine): void {
    this.load()
    this.take(line)
  }

  /** Appends a line, and keeps it in memory when that fails. Throws `mirror_unusable`. */
  append(line: RecordLine): void {
    this.remember(line)
    this.writing(() => this.appendLine(line))
  }

  private appendLine(line: RecordLine): void {
    const descriptor = openSync(join(this.root, RECORD_FILE), APPENDING, 0o666)
    try {
      const stat = fstatSync(descriptor)
      if (!stat.isFile()) throw new Error('it is not a regular file')
      // Another name of the file may be that of a backup.
      if (stat.nlink > 1) {
        this.refresh()
        this.take(line)
        this.rewrite()
        return
      }
      const bytes = Buffer.from((this.isTorn ? '\n' : '') + formatRecordLine(line))
      const written = writeSync(descriptor, bytes)
      this.isTorn = written < bytes.length
      if (this.isTorn) throw new Error(`only ${written} of ${bytes.length} bytes were written`)
    } finally {
      closeSync(descriptor)
    }
  }

  /** Writes the record anew if most of its lines have been replaced by later ones. Throws `mirror_unusable`. */
  compact(): void {
    this.load()
    if (this.offset > MAX_BYTES || this.replaced > Math.max(MAX_REPLACED_LINES, this.windows.size)) this.rewrite()
  }

  /** Forgets windows and series, by the paths of their files and folders, and all lines that do not count. Throws `mirror_unusable`. */
  tidy(gone: ReadonlySet<string>): void {
    this.refresh()
    const before = this.windows.size + this.candles.size
    for (const path of gone) {
      this.windows.delete(path)
      this.candles.delete(path)
    }
    if (this.replaced > 0 || this.isTorn || this.windows.size + this.candles.size < before) this.rewrite()
  }

  /** The number of lines that do not count. */
  private get replaced(): number {
    return this.lines - this.windows.size - this.candles.size
  }

  /** Writes the lines that count. One that another process appends meanwhile is lost. Throws `mirror_unusable`. */
  private rewrite(): void {
    const lines = [
      ...[...this.windows.values()].map(window => formatRecordLine({ kind: 'window', ...window })),
      ...[...this.candles.values()].map(candles => formatRecordLine({ kind: 'candles', ...candles })),
    ]
    this.writing(() => writeFile(this.root, RECORD_FILE, Buffer.from(lines.join('')), Date.now()))
    this.isTorn = false
  }

  /** Removes the record, which is about windows of another source. Throws `mirror_unusable`. */
  remove(): void {
    this.forget()
    this.isLoaded = true
    this.writing(() => rmSync(join(this.root, RECORD_FILE), { force: true }))
  }

  private writing(action: () => void): void {
    try {
      action()
    } catch (error) {
      throw toMirrorError(error, 'write', this.root, RECORD_FILE)
    }
  }
}
