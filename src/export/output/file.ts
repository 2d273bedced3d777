import { constants } from 'node:fs'
import { access, type FileHandle, lstat, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describeErrno } from '../../fs/errno.js'
import { KlinesError } from '../../klines/errors.js'
import type { Output } from './output.js'
import { sweepTemps, tempPath } from './temp.js'

/** Faults of the request, rather than of the run. */
const REQUEST_FAULTS = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'])

/** After so many bytes the file is flushed in the background, so that little is left to wait for at the end. */
const FLUSH_BYTES = 8 * 1024 * 1024

/**
 * Checks that a file can be written at `path`, before any work is done for it. Throws `output_exists` when a file
 * exists and `force` is not set, `bad_output` for a folder, a dangling link, a missing parent or a name too long.
 */
export async function checkTarget(path: string, force: boolean): Promise<void> {
  try {
    const target = await stat(path).catch(missing)
    if (target?.isDirectory()) throw new KlinesError('bad_output', `${path} is a folder. Expected the name of a file.`)
    if (target?.isFile() && !force) {
      throw new KlinesError('output_exists', `${path} exists already.`, {
        suggestions: ['Replace it with `force: true`, or name another file.'],
      })
    }
    // A device is written to directly; a file is replaced by another one in its folder.
    if (target && !target.isFile()) return
    if (!target && (await lstat(path).catch(missing))) {
      throw new KlinesError('bad_output', `${path} is a link to something that is not there.`)
    }
    await access(dirname(path), constants.W_OK)
  } catch (error) {
    throw outputError(error, path)
  }
}

/**
 * A file being written: a temp file beside the target until `commit`, so that the target is the old file or the whole
 * new one. A device is written to directly.
 */
export class OutputFile implements Output {
  bytes = 0
  private flushedBytes = 0
  private flushing: Promise<unknown> = Promise.resolve()

  private constructor(
    readonly path: string,
    private readonly target: string,
    private readonly temp: string | undefined,
    private readonly file: FileHandle,
    private readonly force: boolean,
  ) {}

  static async create(path: string, force: boolean): Promise<OutputFile> {
    await checkTarget(path, force)
    try {
      const stats = await stat(path).catch(missing)
      if (stats && !stats.isFile())
        return new OutputFile(path, path, undefined, await open(path, constants.O_WRONLY), force)
      // Replaces the file that a link names, and keeps the link.
      const target = stats ? await realpath(path) : path
      await sweepTemps(target)
      const temp = tempPath(target)
      const mode = stats ? stats.mode & 0o777 : 0o666
      const file = await open(temp, 'wx', mode)
      // A new file gets the umask; a replaced one keeps its mode where the file system has modes.
      if (stats) await file.chmod(mode).catch(() => {})
      return new OutputFile(path, target, temp, file, force)
    } catch (error) {
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
        const { size } = await this.file.stat()
        if (size !== this.bytes) throw new Error(`the disk took ${size} of ${this.bytes} bytes`)
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

  /** Puts the finished file in its place. */
  async commit(): Promise<void> {
    if (!this.temp) return
    try {
      if (!this.force && (await lstat(this.target).catch(missing))) {
        throw new KlinesError('output_exists', `${this.path} was made by somebody else meanwhile.`, {
          suggestions: ['Replace it with `force: true`, or name another file.'],
        })
      }
      await rename(this.temp, this.target)
      await syncFolder(dirname(this.target))
    } catch (error) {
      throw outputError(error, this.path)
    }
  }

  /**
   * Leaves everything as it was. Safe to call at any time before `commit`. Never throws, so that the original error is
   * reported; a later run removes a temp file that stays.
   */
  async discard(): Promise<void> {
    await this.file.close().catch(() => {})
    if (this.temp) await rm(this.temp, { force: true }).catch(() => {})
  }
}

/** A rename is durable once its folder is flushed (fsync(2)); a file system that cannot do that does not need it. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined)
  await folder?.sync().catch(() => {})
  await folder?.close().catch(() => {})
}

function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined
  throw error
}

function outputError(error: unknown, path: string): KlinesError {
  if (error instanceof KlinesError) return error
  const code = (error as NodeJS.ErrnoException).code ?? ''
  return new KlinesError(
    REQUEST_FAULTS.has(code) ? 'bad_output' : 'output_unwritable',
    `Cannot write ${path}: ${describeErrno(error)}.`,
    {
      cause: error,
      suggestions: code === 'ENOENT' ? [`Make the folder first: mkdir -p ${dirname(path)}`] : [],
      data: { output: path, errno: code },
    },
  )
}
