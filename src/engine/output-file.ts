import { createReadStream, lstatSync, type Stats, statSync } from 'node:fs'
import { open, realpath, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { KlinesError } from '../candles/errors.js'
import { describeErrno, errnoCode } from '../fs/errno.js'
import { removeLeftovers, tempPath } from '../fs/files.js'
import { checkWritableFolder, makeFolder, missingFolders, removeFolders } from '../fs/folders.js'
import { outputIsFolder } from '../options.js'
import { newHash } from '../rows/fingerprint.js'
import { type Output, StreamOutput } from './output-stream.js'

/** `force`: replace an existing file with other content. */
export type FileOptions = { readonly force?: boolean | undefined }

/** Where a file is written, and where it goes then. Plain data. */
export interface FilePlace {
  readonly path: string
  /** `path`, or the file that a link there names. */
  readonly target: string
  readonly temp: string
  readonly mode: number | undefined
  readonly force: boolean
  /** Missing ones, the deepest one first. */
  readonly folders: readonly string[]
}

/** Faults of the request, rather than of the run. */
const REQUEST_FAULTS = ['ENOENT', 'ENOTDIR', 'EEXIST', 'ENAMETOOLONG']

/** `bad_output` or `output_unwritable` for a call that failed; a KlinesError stays as it is. */
export function outputError(error: unknown, path: string): KlinesError {
  if (error instanceof KlinesError) return error
  const errno = errnoCode(error)
  const code = REQUEST_FAULTS.includes(errno) ? 'bad_output' : 'output_unwritable'
  const message = `Cannot write ${path}: ${describeErrno(error)}.`
  return new KlinesError(code, message, { cause: error, data: { output: path, errno } })
}

async function on<T>(path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw outputError(error, path)
  }
}

/** Checks that a file can be written, and returns what is there. `format`: of a file for each series. Throws `bad_output`. */
export function checkTarget(path: string, format?: string): Promise<Stats | undefined> {
  return on(path, async () => {
    const target = statSync(path, { throwIfNoEntry: false })
    if (target?.isDirectory()) throw outputIsFolder(path, format)
    if (!target && lstatSync(path, { throwIfNoEntry: false }))
      throw new KlinesError('bad_output', `${path} is a link to something that is not there.`)
    if (!target || target.isFile()) checkWritableFolder(dirname(path))
    return target
  })
}

export async function prepareFile(path: string, options: FileOptions): Promise<FilePlace> {
  const stats = await checkTarget(path)
  return on(path, async () => {
    // Replaces the file that a link names, and keeps the link.
    const target = stats ? await realpath(path) : path
    const mode = stats && stats.mode & 0o777
    const folders = missingFolders(dirname(target))
    return { path, target, temp: tempPath(target), mode, force: options.force ?? false, folders }
  })
}

/** Opens the temp file of a place; `withPlaces` removes it unless it is renamed. */
export async function openFile({ path, temp, mode, folders }: FilePlace): Promise<Output> {
  const file = await on(path, async () => {
    if (folders.length > 0) makeFolder(folders[0])
    return open(temp, 'wx', mode ?? 0o666)
  })
  // A new file gets the umask; a replaced one keeps its mode where that is allowed.
  if (mode !== undefined) await file.chmod(mode).catch(() => {})
  let bytes = 0
  return {
    get bytes() {
      return bytes
    },
    write: chunk =>
      on(path, async () => {
        for (let done = 0; done < chunk.length; ) done += (await file.write(chunk, done)).bytesWritten
        bytes += chunk.length
      }),
    finish: () =>
      on(path, async () => {
        await file.sync()
        const { size } = await file.stat()
        // A disk may take less than it reports.
        if (size !== bytes) throw new Error(`the disk took ${size} of ${bytes} bytes`)
        await file.close()
      }),
    discard: () => file.close().catch(() => {}),
  }
}

/**
 * Puts finished files in their places by one rename each, and returns the paths of those that are new or have changed: a file that has the
 * same bytes already stays. Throws `output_exists`, and `output_unwritable` with the names of the new files if a later rename fails.
 */
export async function commitFiles(files: readonly FilePlace[]): Promise<string[]> {
  const changed: FilePlace[] = []
  for (const file of files) if (!(await on(file.path, () => isCurrent(file)))) changed.push(file)
  const placed: string[] = []
  for (const { path, temp, target } of changed) {
    await on(path, () => rename(temp, target)).catch((fault: KlinesError) => {
      if (placed.length === 0) throw fault
      const text = `${fault.message} These files are new already: ${placed.join(', ')}.`
      throw new KlinesError('output_unwritable', text, { data: { ...fault.data, placed }, cause: fault.cause })
    })
    placed.push(path)
  }
  return placed
}

/** Whether the target has the bytes already: so a schedule can repeat its command. Throws what keeps them from their place. */
async function isCurrent({ path, temp, target, force }: FilePlace): Promise<boolean> {
  const found = lstatSync(target, { throwIfNoEntry: false })
  if (found === undefined) return false
  if (found.isDirectory()) throw outputIsFolder(path)
  const isSameSize = found.isFile() && found.size === statSync(temp).size
  // One that cannot be read can be replaced all the same.
  if (isSameSize && (await digest(temp)) === (await digest(target).catch(() => undefined))) return true
  if (force) return false
  const suggestions = ['Replace it with --force, or name another file.']
  throw new KlinesError('output_exists', `${path} exists already, with other content.`, { suggestions })
}

/** The SHA-256 of a file, hex. */
export async function digest(path: string): Promise<string> {
  const hash = newHash()
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

/** Writes files to their temp places, and has `write` put them in their own; nothing else is left. */
export async function withPlaces<T>(places: readonly FilePlace[], write: () => Promise<T>): Promise<T> {
  removeLeftovers(places.map(({ target }) => target))
  try {
    return await write()
  } finally {
    for (const { temp, folders } of places) {
      await rm(temp, { force: true }).catch(() => {})
      removeFolders(folders)
    }
  }
}

/** Writes files, or stdout for `-`: all of them, or none. */
export async function writeFiles(
  files: readonly { readonly path: string; readonly bytes: Uint8Array }[],
  options: FileOptions & { readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const places: (FilePlace | undefined)[] = []
  for (const { path } of files) places.push(path === '-' ? undefined : await prepareFile(path, options))
  const there = places.flatMap(place => place ?? [])
  await withPlaces(there, async () => {
    for (const [index, { path, bytes }] of files.entries()) {
      const place = places[index]
      const output = place ? await openFile(place) : StreamOutput.to(path, options.signal)
      try {
        await output.write(bytes)
        await output.finish()
      } finally {
        await output.discard()
      }
    }
    await commitFiles(there)
  })
}
