import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitOutputs } from '../../export/output/commit.js'
import { type FileOptions, OutputFile, PreparedFile } from '../../export/output/file.js'
import { refuseLinks } from '../../fs/links.js'

/** Prepares a file of a lake. Throws `linked_path` where its place is through a link, and what `PreparedFile` throws. */
export function prepareLakeFile(root: string, path: string, options: FileOptions): Promise<PreparedFile> {
  refuseLinks(root, path)
  return PreparedFile.prepare(join(root, path), options)
}

/** Begins a file of a lake beside its place. Throws `linked_path` where that is through a link, and what `OutputFile` throws. */
export function createLakeFile(root: string, path: string, options: FileOptions): Promise<OutputFile> {
  refuseLinks(root, path)
  return OutputFile.create(join(root, path), options)
}

/**
 * Writes a file in the root of a lake by one rename, unless it has these bytes already. `beforePlacing` is called right before the
 * rename. Throws what that throws, and `output_unwritable`.
 */
export async function writeLakeFile(
  root: string,
  name: string,
  bytes: Buffer,
  beforePlacing: () => void,
): Promise<void> {
  const path = join(root, name)
  if (hasBytes(path, bytes)) return
  const file = await createLakeFile(root, name, { force: true })
  try {
    await file.write(bytes)
    await file.finish()
    beforePlacing()
    await commitOutputs([file])
  } catch (error) {
    await file.discard()
    throw error
  }
}

function hasBytes(path: string, bytes: Buffer): boolean {
  try {
    return readFileSync(path).equals(bytes)
  } catch {
    return false
  }
}
