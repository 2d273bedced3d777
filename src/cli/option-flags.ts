import { optionName, renameOptions } from '../options/option.js'
import { candleTableFlags } from './flags/from-table.js'
import { pick } from './flags/group.js'
import { lakeFlags, outputFlags } from './flags/output.js'
import { runFlags } from './flags/run.js'
import { serveFlags } from './flags/serve.js'
import { fetchFlags, locationFlags } from './flags/service.js'

/** The flags that set options of the library. */
const NAMED = {
  ...candleTableFlags,
  ...outputFlags,
  ...lakeFlags,
  ...locationFlags,
  ...fetchFlags,
  ...serveFlags,
  ...pick(runFlags, 'threads', 'fail-on-gaps'),
}
/** Flags by the names of options, with those whose name does not follow from the option's. */
const FLAGS = new Map([
  ...Object.keys(NAMED).map(flag => [optionName(flag), `--${flag}`] as const),
  ['format', '-f'],
  ['intervals', '-i'],
  ['output', '-o'],
  ['error.data', '--json'],
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
