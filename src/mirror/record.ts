import { basename } from 'node:path'
import { errnoCode } from '../fs/errno.js'
import { seriesPath } from '../klines/paths.js'
import type { Series } from '../klines/series.js'
import { isSymbol, type SymbolName } from '../klines/symbols.js'
import { toMirrorError } from './errors.js'
import { LineFile, MAX_LINE_FILE_BYTES } from './line-file.js'
import {
  formatRecordLine,
  MAX_LINE_BYTES,
  parseRecordLine,
  type RecordedCandles,
  type RecordedWindow,
  type RecordLine,
} from './record-lines.js'

/** The file at a mirror's root that has the record: outside of the tree, so that nothing lists, serves or publishes it. */
export const RECORD_FILE = '.klines-record'

/** A record with so many lines that later ones replace, and more of them than windows, is written anew. */
const MAX_REPLACED_LINES = 10_000

/** The errors of a path where no record is: nothing, a folder or a link. */
const NO_RECORD = new Set(['EISDIR', 'ENOENT', 'ENOTDIR', 'ELOOP'])

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
  private readonly file: LineFile
  /** The lines that were read. */
  private lines = 0
  /** How often something was learned or forgotten. */
  private changes = 0

  /** `isOfMirror`: whether the folder is a mirror by now; before that it has no record, whatever lies there. */
  constructor(
    private readonly root: string,
    private readonly isOfMirror: () => boolean,
  ) {
    this.file = new LineFile(root, RECORD_FILE, { maxLineBytes: MAX_LINE_BYTES })
  }

  /** The last recorded version of a window, by the path of its file. Throws `mirror_unusable` when the record cannot be read. */
  window(path: string): RecordedWindow | undefined {
    return this.allWindows.get(path)
  }

  /** The first and the last candle that the mirror has had of a series. Throws `mirror_unusable`. */
  seriesCandles(series: Series): RecordedCandles | undefined {
    return this.allCandles.get(seriesPath(series))
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
    const take = (line: string | undefined) => {
      this.lines++
      this.take(line === undefined ? undefined : parseRecordLine(line))
    }
    // Another file has all that counts.
    this.file.readNew(take, () => this.forget())
  }

  private take(line: RecordLine | undefined): void {
    this.changes++
    if (line?.kind === 'window') this.windows.set(line.path, line)
    else if (line) this.candles.set(line.folder, line)
  }

  private forget(): void {
    this.windows.clear()
    this.candles.clear()
    this.lines = 0
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
    const replace = () => {
      this.refresh()
      this.take(line)
      this.rewrite()
    }
    this.writing(() => this.file.append(formatRecordLine(line), replace))
  }

  /** Writes the record anew if most of its lines have been replaced by later ones. Throws `mirror_unusable`. */
  compact(): void {
    this.load()
    if (this.file.offset > MAX_LINE_FILE_BYTES || this.replaced > Math.max(MAX_REPLACED_LINES, this.windows.size))
      this.rewrite()
  }

  /** The number of lines that do not count. */
  private get replaced(): number {
    return this.lines - this.windows.size - this.candles.size
  }

  /** Writes the lines that count. One that another process appends meanwhile is lost. Throws `mirror_unusable`. */
  private rewrite(): void {
    const lines = [...this.windows.values(), ...this.candles.values()].map(formatRecordLine)
    this.writing(() => this.file.replace(Buffer.from(lines.join(''))))
  }

  /** Removes the record, which is about windows of another source. Throws `mirror_unusable`. */
  remove(): void {
    this.forget()
    this.isLoaded = true
    this.writing(() => this.file.remove())
  }

  private writing(action: () => void): void {
    try {
      action()
    } catch (error) {
      throw toMirrorError(error, 'write', this.root, RECORD_FILE)
    }
  }
}
