import { statSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { KlinesError } from '../../candles/errors.js'
import { trimPeriod } from '../../candles/text.js'
import { describeErrno, errnoCode } from '../../fs/errno.js'

/** Where a file is at fault. */
export interface FilePlace {
  readonly file: string
  /** Counted from 1, without a header. */
  readonly row?: number | undefined
  /** The name of a column. */
  readonly cell?: string | undefined
}

/** The error for a file that does not hold exact candles of a series in their order. */
export function badInput(place: FilePlace, reason: string, suggestions: string[] = []): KlinesError {
  return new KlinesError('bad_input', `${describePlace(place)}: ${reason}.`, { suggestions, data: place })
}

/** The error for doubles. */
export function doublesError(place: FilePlace): KlinesError {
  return badInput(place, 'it is a double, which may not hold all digits of a candle', [
    'Write the file with --numbers text or --numbers decimal. For a fingerprint alone, --fingerprint does, too.',
  ])
}

/** The error for a file whose content is damaged. */
export function damagedInput(place: FilePlace, reason: string, cause?: unknown): KlinesError {
  const suggestions = ['Write the file again with klines export or klines download.']
  return new KlinesError('damaged_input', `${describePlace(place)}: ${reason}.`, { suggestions, data: place, cause })
}

/** The error for a file that could not be read because of an error of the system, of zlib, or of a library. */
export function inputError(file: string, error: unknown): unknown {
  if (error instanceof KlinesError || (error as Error).name === 'AbortError') return error
  const { syscall, message } = error as NodeJS.ErrnoException
  const code = errnoCode(error)
  if (code === 'ENOENT') return badInput({ file }, 'there is no such file')
  if (syscall !== undefined) return badInput({ file }, `it cannot be read: ${describeErrno(error)}`)
  if (code.startsWith('Z_')) return damagedInput({ file }, `its gzip data is damaged (${message})`, error)
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return damagedInput({ file }, 'it is not text in UTF-8', error)
  // A library that takes damaged bytes as they are meets a value that is not there, or a place outside of the bytes.
  const isOfCode = error instanceof TypeError || error instanceof RangeError
  const reason = isOfCode ? 'it is damaged or cut off' : `it is damaged (${trimPeriod(message)})`
  return damagedInput({ file }, reason, error)
}

/** Whether a path that a user named is a folder. Throws `bad_input` where there is nothing. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch (error) {
    throw inputError(path, error)
  }
}

/** Opens a file to read. Throws `bad_input`, and `damaged_input` for an empty one. */
export async function openInput(file: string): Promise<FileHandle> {
  try {
    if ((await stat(file)).size === 0) throw damagedInput({ file }, 'it is empty')
    return await open(file)
  } catch (error) {
    throw inputError(file, error)
  }
}

function describePlace({ file, row, cell }: FilePlace): string {
  return [file, row === undefined ? undefined : `row ${row}`, cell].filter(part => part !== undefined).join(', ')
}
