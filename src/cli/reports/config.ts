import type { ListedValue } from '../config/defaults.js'
import type { ConfigPath } from '../config/file.js'
import { describeFolderKeys, FOLDER_KEYS } from '../config/key-groups.js'
import { formatValue } from '../config/settings.js'
import { textTable } from '../terminal/table.js'
import { printable } from '../terminal/text.js'
import type { Report } from './report.js'
import type { ConfigObject } from './schema.js'

/** `config`: every value that is set, and the places of the files. */
export function configReport(
  values: readonly ListedValue[],
  files: readonly (ConfigPath & { exists: boolean })[],
): Report<ConfigObject> {
  const json = {
    values: values.map(({ key, name, value, origin, source, overridden }) => {
      // Only an address holds a password, and it is one text.
      const shown = name === 'base-url' ? formatValue(name, value) : (value as ConfigObject['values'][number]['value'])
      return { key, value: shown, origin, source, overridden }
    }),
    files: files.map(({ origin, path, exists }) => ({ origin, path, exists })),
    folderKeys: FOLDER_KEYS,
  }
  const keys = ["A folder's file may set:", ...describeFolderKeys().map(line => `  ${line}`)].join('\n')
  const text = () => `${values.length > 0 ? valueTable(values) : noValues(files)}\n\n${keys}`
  return { json, text }
}

function valueTable(values: readonly ListedValue[]): string {
  const rows = values.map(({ key, name, value, source, overridden }) => [
    key,
    printable(formatValue(name, value)),
    `${source}${overridden ? ' (overridden)' : ''}`,
  ])
  return textTable({ head: ['key', 'value', 'from'], rows })
}

function noValues(files: readonly (ConfigPath & { exists: boolean })[]): string {
  const lines = files.map(({ origin, path, exists }) => {
    const owner = origin === 'folder' ? 'this folder' : 'the user'
    return `  ${path}  (${owner}; ${exists ? 'sets nothing' : 'does not exist'})`
  })
  return ['No defaults are set. The config files:', ...lines, 'klines config set KEY VALUE sets one.'].join('\n')
}
