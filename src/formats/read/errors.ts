import { statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { KlinesError } from '../../candles/errors.js'
import { trimPeriod } from '../../candles/text.js'
import { describeErrno, errnoCode } from '../../fs/errno.js'

export interface FilePlace {
  readonly file: string
  /** Counted from 1, without a header. */
  readonly row?: number | undefined
  /** The name of a column. */
  readonly cell?: string | undefined
}

/** For a file that does not hold exact candles of a series in their order. */
export function badInput(place: FilePlace, reason: string, suggestions: string[] = []): KlinesError {
  return new KlinesError('bad_input', `${describePlace(place)}: ${reason}.`, { suggestions, data: { ...place } })
}

export function damagedInput(place: FilePlace, reason: string, cause?: unknown): KlinesError {
  const suggestions = ['Write the file again with klines export or klines download.']
  return new KlinesError('damaged_input', `${describePlace(place)}: ${reason}.`, {
    suggestions,
    data: { ...place },
    cause,
  })
}

/** For an error of the system, of zlib, or of a library. */
export function inputError(file: string, error: unknown): unknown {
  if (error instanceof KlinesError) return error
  const { syscall, message } = error as NodeJS.ErrnoException
  if (errnoCode(error) === 'ENOENT') return badInput({ file }, 'there is no such file')
  if (syscall !== undefined) return badInput({ file }, `it cannot be read: ${describeErrno(error)}`)
  return damagedInput({ file }, `it is damaged, or has a form that is not supported (${trimPeriod(message)})`, error)
}

/** Whether a path that a user named is a folder. Throws `bad_input` where there is nothing. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch (error) {
    throw inputError(path, error)
  }
}

export async function* readInput<T>(file: string, read: (handle: FileHandle) => AsyncIterable<T>): AsyncGenerator<T> {
  let handle: FileHandle | undefined
  try {
    handle = await open(file)
    yield* read(handle)
  } catch (error) {
    throw inputError(file, error)
  } finally {
    await handle?.close()
  }
}

function describePlace({ file, row, cell }: FilePlace): string {
  return [file, row && `row ${row}`, cell].filter(Boolean).join(', ')
}
