import { stat } from 'node:fs/promises'
import { KlinesError } from '../../klines/errors.js'
import { versionText } from '../file-content.js'
import type { FinishedOutput } from '../output-writer.js'
import { haveSameBytes } from './commit.js'
import { outputError } from './errors.js'

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
