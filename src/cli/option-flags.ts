/** Options of the library that have a flag, and what does not follow from the option's name. */
const OPTIONS =
  'acceptList baseUrl columns concurrency derive force from height host last log maxRate mirror mkdir numbers partial port refresh resample retries streamText theme timeFormat timeout to width'
const FLAGS = new Map([
  ...OPTIONS.split(' ').map(
    name => [name, `--${name.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`] as const,
  ),
  ['format', '-f'],
  ['intervals', '-i'],
  ['manySymbols', '--yes'],
  ['output', '-o'],
  ['error.data', '--json'],
  ['startSample()', '--base-url sample'],
])

/**
 * A message of the library as the command line says it. The library names an option in backticks, if need be with a value:
 * `` `timeFormat: 'iso'` `` becomes `--time-format iso`, `` `force: true` `` becomes `--force`. Other text stays as it is.
 */
export function toFlags(text: string): string {
  return text.replace(/`([\w.()]+)(?:: (?:'([^`]*)'|(\d+)|true))?`/g, (quoted, name, word, number) => {
    const flag = FLAGS.get(name)
    const value = word ?? number
    return flag === undefined ? quoted : value === undefined ? flag : `${flag} ${value}`
  })
}
