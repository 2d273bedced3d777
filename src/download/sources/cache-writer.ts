import type { FileSnapshot } from '../../fs/read-file.js'
import { isKlinesError } from '../../klines/errors.js'
import { appendChanges, type RecordedChange } from '../../mirror/changes.js'
import { META_FILE } from '../../mirror/meta.js'
import type { Mirror } from '../../mirror/mirror.js'
import type { RecordLine } from '../../mirror/record-lines.js'
import type { Warn } from './window-source.js'

/** Files that the mirror could not store, by path. */
export interface FileMemory {
  get(path: string): FileSnapshot | undefined
  set(path: string, file: FileSnapshot): unknown
  delete(path: string): unknown
}

/** How a `CacheWriter` stores files. */
export interface CacheWriterOptions {
  /** Store nothing. */
  readonly readOnly?: boolean | undefined
  /** Where files go when the mirror cannot be written. Without it, that is an error. */
  readonly memory?: FileMemory | undefined
  readonly warn: Warn
}

/** Stores downloaded files in the mirror, and knows which are done: a run downloads no file twice. */
export class CacheWriter {
  /** The paths of files that are done in this run. */
  private readonly done = new Set<string>()
  /** Makes the folder a mirror. */
  private adopt = () => {}
  private isAdopted = false
  private unwritable = false

  constructor(
    private readonly mirror: Mirror,
    private readonly options: CacheWriterOptions,
  ) {}

  /**
   * Prepares the mirror for a run. Its folder is created with the first file, so that a run which stores nothing leaves
   * nothing. Throws `mirror_mismatch`, and `mirror_unusable` without a fallback.
   */
  open(baseUrl: string, now: number): void {
    if (this.options.readOnly) this.mirror.upkeep.checkBase(baseUrl)
    else this.write(() => this.mirror.upkeep.checkWritable(baseUrl, now))
    this.adopt = () => this.adoptMirror(baseUrl, now)
  }

  private adoptMirror(baseUrl: string, now: number): void {
    const hasMeta = this.mirror.files.version(META_FILE) !== undefined
    // A person may remove that file while this run goes on.
    if (this.isAdopted && hasMeta) return
    const isBare = !this.isAdopted && this.mirror.files.exists && !hasMeta
    // Before the first file, so that no file is without a source.
    this.mirror.upkeep.prepare(baseUrl, now)
    this.mirror.record.compact()
    this.isAdopted = true
    if (isBare)
      this.options.warn(
        `${this.mirror.root} did not say where its candles come from; from now on it is a mirror of ${baseUrl}.`,
      )
  }

  /** Whether all files so far went to the mirror. */
  get isStoring(): boolean {
    return !this.options.readOnly && !this.unwritable
  }

  /** Whether a file is done in this run. */
  isDone(path: string): boolean {
    return this.done.has(path)
  }

  /** A file that the mirror could not store. */
  inMemory(path: string): FileSnapshot | undefined {
    return this.options.memory?.get(path)
  }

  /** The mirror's file at `path` is up to date for this run. */
  markDone(path: string): void {
    this.done.add(path)
  }

  /** Stores a file in the mirror, or in memory when the mirror cannot be written. `changes`: what it changes of cached candles. */
  store(path: string, bytes: Buffer, mtimeMs: number, changes: readonly RecordedChange[] = []): void {
    if (this.options.readOnly) return
    const isStored = this.write(() => {
      this.adopt()
      if (changes.length > 0) this.recordChanges(changes)
      this.mirror.files.write(path, bytes, mtimeMs)
    })
    const version = { ino: 0, size: bytes.length, mtimeMs, ctimeMs: Date.now() }
    if (isStored) this.options.memory?.delete(path)
    else this.options.memory?.set(path, { state: 'file', bytes, ...version })
    this.done.add(path)
  }

  /**
   * Adds a line to the record of the mirror. One that cannot be written stays in memory: the next run requests the window again.
   * A folder that is no mirror yet has no record.
   */
  record(line: RecordLine): void {
    if (this.options.readOnly) return
    try {
      if (this.unwritable || this.mirror.upkeep.readMeta() === undefined) this.mirror.record.remember(line)
      else this.mirror.record.append(line)
    } catch (error) {
      if (!isKlinesError(error, 'mirror_unusable')) throw error
      if (line.kind === 'window') this.options.warn(`${error.message} The next run requests such windows again.`)
    }
  }

  /** Records changes before the file that makes them. Where that fails, only the old values are lost. */
  private recordChanges(changes: readonly RecordedChange[]): void {
    try {
      appendChanges(this.mirror.root, changes)
    } catch (error) {
      if (!isKlinesError(error, 'mirror_unusable')) throw error
      this.options.warn(`${error.message} Values that the service changed are not kept there.`)
    }
  }

  /** Whether a write succeeded. After the first failure, warns and tries no more; throws it without a fallback. */
  private write(action: () => void): boolean {
    if (this.unwritable) return false
    try {
      action()
      return true
    } catch (error) {
      const { memory, warn } = this.options
      if (!isKlinesError(error, 'mirror_unusable') || !memory) throw error
      this.unwritable = true
      warn(`${error.message} Continuing in memory: downloaded windows are not kept for the next run.`)
      return false
    }
  }
}
