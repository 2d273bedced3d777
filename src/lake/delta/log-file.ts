import { join } from 'node:path'
import { readFile } from '../../fs/read-file.js'
import { MAX_LAKE_FILE_BYTES } from '../layout.js'

/**
 * The bytes of an entry or a checkpoint of a log. Throws for one that is missing, too large or no regular file, and what the file
 * system throws.
 */
export function readLogFile(root: string, path: string): Buffer {
  const file = readFile(join(root, path), MAX_LAKE_FILE_BYTES)
  if (file.state === 'file') return file.bytes
  throw new Error(`${path} is ${file.state === 'missing' ? 'missing' : file.reason}`)
}
