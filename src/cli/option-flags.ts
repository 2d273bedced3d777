import { renameOptions } from '../klines/option-text.js'

/** Options of the library that have a flag, and what does not follow from the option's name. */
const OPTIONS =
  'acceptList baseUrl columns compression concurrency derive force from height host last layout log maxRate mirror mkdir numbers partial partition port prune refresh resample retries streamText table theme threads timeFormat timeout to vacuum width'
const FLAGS = new Map([
  ...OPTIONS.split(' ').map(
    name => [name, `--${name.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`] as const,
  ),
  ['format', '-f'],
  ['intervals', '-i'],
  ['manySymbols', '--yes'],
  ['manyRequests', '--yes'],
  ['output', '-o'],
  ['error.data', '--json'],
  ['startSample()', '--base-url sample'],
])

/**
 * A message of the library as the command line says it: `` `timeFormat: 'iso'` `` becomes `--time-format iso`,
 * `` `force: true` `` becomes `--force`. Other text stays as it is.
 */
export function toFlags(text: string): string {
  return renameOptions(text, (name, value) => {
    const flag = FLAGS.get(name)
    return flag === undefined || value === undefined || value === 'true' ? flag : `${flag} ${value}`
  })
}
