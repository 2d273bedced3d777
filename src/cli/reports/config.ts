import { formatValue } from '../error-origins.js'
import { textTable } from '../terminal/table.js'
import { printable } from '../terminal/text.js'
import type { Report } from './report.js'
import type { ConfigObject } from './schema.js'

/** A value that is set, and where. */
export type ConfigValue = ConfigObject['values'][number]

/** `config`: every value that is set, and the place of the file. */
export function configReport(values: readonly ConfigValue[], path: string | undefined): Report<ConfigObject> {
  const shown = values.map(({ key, value, ...rest }) => {
    // Only an address holds a password, and it is one text.
    return { key, value: key === 'base-url' ? formatValue(key, value) : value, ...rest }
  })
  const text = () => (values.length > 0 ? valueTable(values) : noValues(path))
  return { json: { values: shown, path: path ?? null }, text }
}

function valueTable(values: readonly ConfigValue[]): string {
  const rows = values.map(({ key, value, source, overridden }) => [
    key,
    printable(formatValue(key, value)),
    `${source}${overridden ? ' (overridden)' : ''}`,
  ])
  return textTable({ head: ['key', 'value', 'from'], rows })
}

function noValues(path: string | undefined): string {
  const file = path === undefined ? [] : [`Your config file: ${path}`]
  return ['No defaults are set.', ...file, 'klines config set KEY VALUE sets one.'].join('\n')
}
