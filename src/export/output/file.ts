import { constants } from 'node:fs'
import { access, type FileHandle, lstat, open, realpath, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { undefinedIfMissing } from '../../fs/errno.js'
import { fileId } from '../../fs/file-id.js'
import { checkWritableFolder } from '../../fs/make-folder.js'
import { KlinesError } from '../../klines/errors.js'
import { outputError, outputExists, outputIsFolder } from './errors.js'
import { MadeFolders } from './folders.js'
import type { Output } from './output.js'
import type { FinishedFile } from './placement.js'
import { tempPath } from './temp.js'

/** After so many bytes the file is flushed in the background, so that little is left to wait for at the end. */
const FLUSH_BYTES = 8 * 1024 * 1024

/** What may be done to write a file. */
export interface FileOptions {
  /** Replace an existing file. */
  readonly force?: boolean | undefined
  /** Make missing folders. */
  readonly mkdir?: boolean | undefined
}

/**
 * Checks that a file can be written at `path`, before any work is done for it. Throws `output_exists` when a file
 * exists and `force` is not set, `bad_output` for a folder, a dangling link, a missing parent without `mkdir` or a name too long.
 */
export async function checkTarget(path: string, { force = false, mkdir = false }: FileOptions): Promise<void> {
  try {
    const target = await stat(path).catch(undefinedIfMissing)
    if (target?.isDirectory()) throw outputIsFolder(path)
    if (target?.isFile() && !force) throw outputExists(`${path} exists already.`)
    // A device is written to directly; a file is replaced by another one in its folder.
    if (target && !target.isFile()) return
    if (!target && (await lstat(path).catch(undefinedIfMissing))) {
      throw new KlinesError('bad_output', `${path} is a link to something that is not there.`)
    }
    if (mkdir) checkWritableFolder(dirname(path))
    else await access(dirname(path), constants.W_OK)
  } catch (error) {
    throw outputError(error, path)
  }
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
    readonly path: string,
    private readonly target: string,
    private readonly temp: string | undefined,
    private readonly file: FileHandle,
    private readonly force: boolean,
    private readonly folders = new MadeFolders(),
  ) {}

  static async create(path: string, options: FileOptions): Promise<OutputFile> {
    const { force = false, mkdir = false } = options
    await checkTarget(path, options)
    const folders = new MadeFolders()
    try {
      const stats = await stat(path).catch(undefinedIfMissing)
      if (stats && !stats.isFile())
        return new OutputFile(path, path, undefined, await open(path, constants.O_WRONLY), force)
      // Replaces the file that a link names, and keeps the link.
      const target = stats ? await realpath(path) : path
      if (mkdir) await folders.make(dirname(target))
      const temp = tempPath(target)
      const mode = stats ? stats.mode & 0o777 : 0o666
      const file = await open(temp, 'wx', mode)
      // A new file gets the umask; a replaced one keeps its mode where the file system has modes.
      if (stats) await file.chmod(mode).catch(() => {})
      return new OutputFile(path, target, temp, file, force, folders)
    } catch (error) {
      await folders.remove()
      throw outputError(error, path)
    }
  }

  /** Writes all of `chunk`. */
  async write(chunk: Uint8Array): Promise<void> {
    try {
      for (let done = 0; done < chunk.length; ) done += (await this.file.write(chunk, done)).bytesWritten
      this.bytes += chunk.length
      if (this.temp && this.bytes - this.flushedBytes >= FLUSH_BYTES) this.flush()
    } catch (error) {
      throw outputError(error, this.path)
    }
  }

  /** Makes sure that all bytes are on the disk, which may have taken less than it reported. Nothing is visible yet. */
  async finish(): Promise<void> {
    try {
      if (this.temp) {
        await this.flushing
        await this.file.sync()
        const stats = await this.file.stat({ bigint: true })
        if (stats.size !== BigInt(this.bytes)) throw new Error(`the disk took ${stats.size} of ${this.bytes} bytes`)
        const { path, target, temp, force } = this
        this.finished = { path, target, temp, force, id: fileId(stats) }
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

  /**
   * Leaves everything as it was. Safe to call at any time before the file is in its place. Never throws, so that the original error is
   * reported; a later run removes a temp file that stays.
   */
  async discard(): Promise<void> {
    await this.file.close().catch(() => {})
    if (this.temp) await rm(this.temp, { force: true }).catch(() => {})
    await this.folders.remove()
  }
}
