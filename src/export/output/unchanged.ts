import { open, stat } from 'node:fs/promises'
import { KlinesError } from '../../klines/errors.js'
import { versionText } from '../file-content.js'
import type { FinishedOutput } from '../output-writer.js'
import { outputError } from './errors.js'

const CHUNK_BYTES = 1024 * 1024

/**
 * Whether a finished file has the bytes of the one that it would replace. `version`: of that when it was read. Throws `bad_output` when
 * another program has changed it since.
 */
export async function isUnchanged({ finished }: FinishedOutput, version: string): Promise<boolean> {
  if (finished === undefined) return false
  const { path, target, temp } = finished
  try {
    if (versionText(await stat(target)) === version) return await haveSameBytes(temp, target)
  } catch (error) {
    throw outputError(error, path)
  }
  throw new KlinesError('bad_output', `${path} was changed by another program meanwhile.`, {
    suggestions: ['Run the same command again.'],
    data: { output: path },
  })
}

async function haveSameBytes(path: string, other: string): Promise<boolean> {
  const files = [await open(path), await open(other)]
  try {
    const buffers = files.map(() => Buffer.allocUnsafe(CHUNK_BYTES))
    for (;;) {
      const parts: Buffer[] = []
      for (const [index, file] of files.entries()) {
        const { bytesRead } = await file.read(buffers[index], 0, CHUNK_BYTES)
        parts.push(buffers[index].subarray(0, bytesRead))
      }
      if (!parts[0].equals(parts[1])) return false
      if (parts[0].length === 0) return true
    }
  } finally {
    for (const file of files) await file.close()
  }
}
