import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { KlinesError } from '../../candles/errors.js'
import { describeErrno, errnoCode, isRefusedFolder } from '../../fs/errno.js'

/** Faults of the request, rather than of the run. */
const REQUEST_FAULTS = new Set(['ENOENT', 'ENOTDIR', 'EEXIST', 'ENAMETOOLONG'])

interface Explanation {
  readonly kind: 'bad_output' | 'output_unwritable'
  readonly reason: string
  readonly suggestions: string[]
}

/** The error for a call on an output that failed; a KlinesError stays as it is. */
export function outputError(error: unknown, path: string): KlinesError {
  if (error instanceof KlinesError) return error
  const errno = errnoCode(error)
  const { kind, reason, suggestions } = explain(error, errno, path)
  const data = { output: path, errno }
  return new KlinesError(kind, `Cannot write ${path}: ${reason}.`, { cause: error, suggestions, data })
}

function explain(error: unknown, errno: string, path: string): Explanation {
  const reason = describeErrno(error)
  const kind = REQUEST_FAULTS.has(errno) ? 'bad_output' : 'output_unwritable'
  if (errno !== 'ENOENT') return { kind, reason, suggestions: [] }
  if (!isAbsolute(path) && !hasWorkingFolder()) {
    const suggestions = ['Change to a folder that exists, or give the output as an absolute path.']
    return { kind, reason: `the working folder no longer exists (${errno})`, suggestions }
  }
  if (isRefusedFolder(error)) {
    return { kind: 'output_unwritable', reason, suggestions: ['Name a file in another folder.'] }
  }
  return { kind, reason, suggestions: [] }
}

/** False after the folder was removed, also during the run: Node keeps the path. */
function hasWorkingFolder(): boolean {
  try {
    return existsSync(process.cwd())
  } catch {
    return false
  }
}

/** The error for a file that is there and may not be replaced. */
export function outputExists(message: string): KlinesError {
  const suggestions = ['Replace it with --force, or name another file.']
  return new KlinesError('output_exists', message, { suggestions })
}

/** The error for a folder where a file is expected. */
export function outputIsFolder(path: string): KlinesError {
  return new KlinesError('bad_output', `${path} is a folder. Expected the name of a file.`)
}
