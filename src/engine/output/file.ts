import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, realpath, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { KlinesError } from '../../candles/errors.js'
import { undefinedIfMissing } from '../../fs/errno.js'
import { checkWritableFolder, makeFolder, missingFolders, removeFolders } from '../../fs/make-folder.js'
import { outputError, outputExists, outputIsFolder } from './errors.js'
import type { FinishedFile, Output } from './output.js'
import { tempPath } from './temp.js'

/** After so many bytes the file is flushed in the background, so that little is left to wait for at the end. */
const FLUSH_BYTES = 8 * 1024 * 1024

/** What may be done to write a file. */
export interface FileOptions {
  /** Replace an existing file. */
  readonly force?: boolean | undefined
}

/**
 * Checks that a file can be written at `path`, before any work is done for it, and returns what is there. Throws `output_exists` when a file
 * exists and `force` is not set, `bad_output` for a folder, a dangling link or a name too long.
 */
export async function checkTarget(path: string, { force = false }: FileOptions): Promise<Stats | undefined> {
  try {
    const target = await stat(path).catch(undefinedIfMissing)
    if (target?.isDirectory()) throw outputIsFolder(path)
    if (target?.isFile() && !force) throw outputExists(`${path} exists already.`)
    // A device is written to directly; a file is replaced by another one in its folder.
    if (target && !target.isFile()) return target
    if (!target && (await lstat(path).catch(undefinedIfMissing))) {
      throw new KlinesError('bad_output', `${path} is a link to something that is not there.`)
    }
    checkWritableFolder(dirname(path))
    return target
  } catch (error) {
    throw outputError(error, path)
  }
}

/** Where a file is written, and where it goes then. Plain data, so that any thread can write the file. */
export interface FilePlace {
  /** The output as the user named it. */
  readonly path: string
  /** `path`, or the file that a link there names. */
  readonly target: string
  /** Beside the target until the commit; undefined for a device, which is written to directly. */
  readonly temp: string | undefined
  /** The mode of the file that is replaced. */
  readonly mode: number | undefined
  /** Replaces a file that is there. */
  readonly force: boolean
  /** Folders that are made when the file is opened, the deepest one first. */
  readonly folders: readonly string[]
}

/**
 * The place of an output file before its first byte: checked, and with a name for its temp file. Throws what `checkTarget` throws, and
 * `output_unwritable`.
 */
export async function prepareFile(path: string, options: FileOptions): Promise<FilePlace> {
  const { force = false } = options
  const stats = await checkTarget(path, options)
  if (stats && !stats.isFile()) return { path, target: path, temp: undefined, mode: undefined, force, folders: [] }
  try {
    // Replaces the file that a link names, and keeps the link.
    const target = stats ? await realpath(path) : path
    const mode = stats && stats.mode & 0o777
    const folders = missingFolders(dirname(target))
    return { path, target, temp: tempPath(target), mode, force, folders }
  } catch (error) {
    throw outputError(error, path)
  }
}

/** Removes what an ended thread may have left, so that the file can be written again. Never throws. */
export async function removeTemp(place: FilePlace | undefined): Promise<void> {
  if (place?.temp) await rm(place.temp, { force: true }).catch(() => {})
}

/**
 * Leaves everything as it was. Safe to call at any time before the file is in its place. Never throws, so that the original error is
 * reported; a later run removes a temp file that stays.
 */
export async function discardFile(place: FilePlace): Promise<void> {
  await removeTemp(place)
  removeFolders(place.folders)
}

/**
 * A file being written: a temp file beside the target until `commitOutputs`, so that the target is the old file or the whole
 * new one. A device is written to directly.
 */
export class OutputFile implements Output {
  bytes = 0
  finished: FinishedFile | undefined
  private flushedBytes = 0
  private flushing: Promise<unknown> = Promise.resolve()

  private constructor(
    private readonly place: FilePlace,
    private readonly file: FileHandle,
  ) {}

  /** Prepares a file and opens it. */
  static async create(path: string, options: FileOptions): Promise<OutputFile> {
    return OutputFile.open(await prepareFile(path, options))
  }

  /** Opens a prepared file, in any thread, and makes its folders. Throws `output_unwritable` or `bad_output`. */
  static async open(place: FilePlace): Promise<OutputFile> {
    const { path, target, temp, mode, folders } = place
    try {
      if (temp === undefined) return new OutputFile(place, await open(target, constants.O_WRONLY))
      if (folders.length > 0) makeFolder(folders[0])
      const file = await open(temp, 'wx', mode ?? 0o666)
      // A new file gets the umask; a replaced one keeps its mode where the file system has modes.
      if (mode !== undefined) await file.chmod(mode).catch(() => {})
      return new OutputFile(place, file)
    } catch (error) {
      removeFolders(folders)
      throw outputError(error, path)
    }
  }

  get path(): string {
    return this.place.path
  }

  /** Writes all of `chunk`. */
  async write(chunk: Uint8Array): Promise<void> {
    try {
      for (let done = 0; done < chunk.length; ) done += (await this.file.write(chunk, done)).bytesWritten
      this.bytes += chunk.length
      if (this.place.temp && this.bytes - this.flushedBytes >= FLUSH_BYTES) this.flush()
    } catch (error) {
      throw outputError(error, this.path)
    }
  }

  /** Makes sure that all bytes are on the disk, which may have taken less than it reported. Nothing is visible yet. */
  async finish(): Promise<void> {
    try {
      const { path, target, temp, force } = this.place
      if (temp) {
        await this.flushing
        await this.file.sync()
        const { size } = await this.file.stat()
        if (size !== this.bytes) throw new Error(`the disk took ${size} of ${this.bytes} bytes`)
        this.finished = { path, target, temp, force }
      }
      await this.file.close()
    } catch (error) {
      throw outputError(error, this.path)
    }
  }

  private flush(): void {
    this.flushedBytes = this.bytes
    this.flushing = Promise.all([this.flushing, this.file.datasync()])
    // `finish` reports a failure; the kernel reports it only once.
    this.flushing.catch(() => {})
  }

  /** Leaves everything as it was. Never throws. */
  async discard(): Promise<void> {
    await this.file.close().catch(() => {})
    await discardFile(this.place)
  }
}
