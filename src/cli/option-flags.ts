import { CANDLE_ENTRIES } from '../options/candle-options.js'
import { flagName, renameOptions } from '../options/option.js'
import { OUTPUT_ENTRIES } from '../options/output-options.js'

/** Options of the library that have a flag beside those of the table, and what does not follow from the option's name. */
const OPTIONS =
  'acceptList baseUrl concurrency failOnGaps force host layout maxRate mirror mkdir partition port prune refresh retries streamText table threads timeout vacuum'
const FLAGS = new Map([
  ...[...CANDLE_ENTRIES, ...OUTPUT_ENTRIES].map(({ name, flag }) => [name as string, `--${flag}`] as const),
  ...OPTIONS.split(' ').map(name => [name, `--${flagName(name)}`] as const),
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
