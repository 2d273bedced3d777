import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, rmSync, type Stats, writeSync } from 'node:fs'
import { join } from 'node:path'
import { fill } from '../fs/read-file.js'
import { syncFolder, writeFile } from './file-store.js'

/** Of a larger file only the end is read: 64 MiB of the record are some 350,000 windows, and 150 MB of memory. */
export const MAX_LINE_FILE_BYTES = 64 * 1024 * 1024
const CHUNK_BYTES = 1024 * 1024
const LINE_END = 0x0a

const READING = constants.O_RDONLY | constants.O_NOFOLLOW
const APPENDING = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW

/** How a `LineFile` is read and written. */
export interface LineFileOptions {
  /** A longer line is none, bytes. */
  readonly maxLineBytes?: number
  /** Whether what is written is on the disk when `append` and `replace` return. */
  readonly sync?: boolean
}

/** Called with each line without its end; undefined for one that is too long. */
type TakeLine = (line: string | undefined) => void

/**
 * A file of lines at the root of a mirror that any number of processes append, each with one write. A line may be torn; the next one
 * then begins a line of its own. It is never reached through a link. All methods throw what the file system throws.
 */
export class LineFile {
  private readonly path: string
  /** The file that was read. */
  private inode: number | undefined
  /** How far it was read, bytes. */
  offset = 0

  constructor(
    private readonly root: string,
    private readonly name: string,
    private readonly options: LineFileOptions,
  ) {
    this.path = join(root, name)
  }

  /**
   * Reads what was appended since the last call, or all of another file, whose lines replace all earlier ones: `onOther` is called
   * before these.
   */
  readNew(take: TakeLine, onOther: () => void = () => {}): void {
    this.open(READING, (descriptor, { ino, size }) => {
      if (ino !== this.inode || size < this.offset) {
        onOther()
        this.forget()
      }
      this.inode = ino
      this.offset = Math.max(this.offset, size - MAX_LINE_FILE_BYTES)
      this.readLines(descriptor, size, take)
    })
  }

  private readLines(descriptor: number, size: number, take: TakeLine): void {
    const { maxLineBytes = Infinity } = this.options
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - this.offset))
    while (this.offset < size) {
      const length = readSync(descriptor, buffer, 0, buffer.length, this.offset)
      const chunk = buffer.subarray(0, length)
      let start = 0
      for (let end = chunk.indexOf(LINE_END); end !== -1; end = chunk.indexOf(LINE_END, start)) {
        take(end - start <= maxLineBytes ? chunk.toString('utf8', start, end) : undefined)
        start = end + 1
      }
      // The rest is read with the next chunk, unless it is too long for a line.
      if (length - start > maxLineBytes) start = length
      if (start === 0) return
      this.offset += start
    }
  }

  /**
   * Appends lines with one write, and creates the file for them. `replace` is called in its place where the file has another name,
   * which may be that of a backup.
   */
  append(lines: string, replace?: () => void): void {
    this.open(APPENDING, (descriptor, stat) => {
      const bytes = Buffer.from((endsTorn(descriptor, stat) ? '\n' : '') + lines)
      if (replace && stat.nlink > 1) return replace()
      const written = writeSync(descriptor, bytes)
      if (written < bytes.length) throw new Error(`only ${written} of ${bytes.length} bytes were written`)
      if (!this.options.sync) return
      fsyncSync(descriptor)
      if (stat.size === 0) syncFolder(this.root)
    })
  }

  /** Writes the file anew, whole or not at all. What another process appends meanwhile is lost. */
  replace(bytes: Uint8Array): void {
    writeFile(this.root, this.name, bytes, Date.now(), { sync: this.options.sync })
  }

  remove(): void {
    this.forget()
    rmSync(this.path, { force: true })
  }

  /** The next call of `readNew` reads all of the file. */
  forget(): void {
    this.inode = undefined
    this.offset = 0
  }

  private open<T>(flags: number, use: (descriptor: number, stat: Stats) => T): T {
    const descriptor = openSync(this.path, flags, 0o666)
    try {
      return use(descriptor, fstatSync(descriptor))
    } finally {
      closeSync(descriptor)
    }
  }
}

/** The bytes from `start` to `end`, or to the end of the file. */
function readAt(descriptor: number, start: number, end: number): Buffer {
  return fill(Buffer.alloc(end - start), descriptor, start)
}

/** Whether a process ended, or the disk was full, within the last line. */
function endsTorn(descriptor: number, { size }: Stats): boolean {
  return size > 0 && readAt(descriptor, size - 1, size)[0] !== LINE_END
}
