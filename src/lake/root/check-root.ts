import { statSync } from 'node:fs'
import { KlinesError } from '../../klines/errors.js'
import { formatOfName } from '../../options/formats.js'

/** Checks the name of a lake's folder; that of a folder that is there may look like a file's. Throws `bad_output`. */
export function checkRoot(root: string): void {
  const advice = { suggestions: ['Name the folder with `output`, such as lake.'] }
  if (root === '') throw new KlinesError('bad_output', 'The name of the lake is empty. Expected a folder.', advice)
  if (root === '-') throw new KlinesError('bad_output', 'A lake is a folder; it cannot go to stdout.', advice)
  const format = formatOfName(root) ?? 'parquet'
  if (format !== 'parquet' && !statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
    const message = `${root} is the name of a ${format} file, and a lake is a folder of Parquet files.`
    throw new KlinesError('bad_output', message, advice)
  }
  const [placeholder] = /\{[^{}]*\}/.exec(root) ?? []
  if (placeholder === undefined) return
  const message = `${root} has the placeholder ${placeholder}, but the folders of a lake follow from its layout. Expected the name of its root alone.`
  throw new KlinesError('bad_output', message, advice)
}
