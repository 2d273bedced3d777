import { dirname } from 'node:path'
import { describeErrno } from '../../fs/errno.js'
import { KlinesError } from '../../klines/errors.js'

/** Faults of the request, rather than of the run. */
const REQUEST_FAULTS = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'])

/** The error for a call on an output that failed; a KlinesError stays as it is. */
export function outputError(error: unknown, path: string): KlinesError {
  if (error instanceof KlinesError) return error
  const code = (error as NodeJS.ErrnoException).code ?? ''
  return new KlinesError(
    REQUEST_FAULTS.has(code) ? 'bad_output' : 'output_unwritable',
    `Cannot write ${path}: ${describeErrno(error)}.`,
    {
      cause: error,
      suggestions:
        code === 'ENOENT' ? [`Make the folder with \`mkdir: true\`, or first: mkdir -p ${dirname(path)}`] : [],
      data: { output: path, errno: code },
    },
  )
}

/** The error for a file that is there and may not be replaced. */
export function outputExists(message: string): KlinesError {
  const suggestions = ['Replace it with `force: true`, or name another file.']
  return new KlinesError('output_exists', message, { suggestions })
}

/** The error for a folder where a file is expected. */
export function outputIsFolder(path: string): KlinesError {
  return new KlinesError('bad_output', `${path} is a folder. Expected the name of a file.`)
}
