import type { Setting } from '../../cli/config/defaults.js'
import { formatValue } from '../../cli/error-origins.js'
import { report, tableOf } from '../../cli/report.js'
import { column, derived, type Field, flag, list, maybe, object, oneOf, text } from '../../cli/schema.js'
import { textTable } from '../../cli/terminal/table.js'
import { printable } from '../../cli/terminal/text.js'

const single = [{ type: 'string' }, { type: 'number' }]
const value: Field<Setting['value']> = {
  schema: { anyOf: [...single, { type: 'boolean' }, { type: 'array', items: { anyOf: single } }] },
}

const setting = {
  key: column('key', text('the long name of a flag')),
  // Only an address holds a password, and it is one text.
  value: derived(value, ({ key, value }: Setting) => (key === 'base-url' ? formatValue(key, value) : value)),
  origin: oneOf(['environment', 'user']),
  source: text('the variable or the file'),
  overridden: flag('whether a variable overrides it'),
}

/** `config`: every value that is set, and the place of the file. */
export const Config = report(
  'klines-config',
  {
    values: list(object(setting), 'by key, the strongest first'),
    path: maybe(text(), 'your config file, which may be missing'),
  },
  ({ values, path }: { readonly values: readonly Setting[]; readonly path: string | undefined }) => {
    if (values.length === 0) {
      const file = path === undefined ? [] : [`Your config file: ${path}`]
      return ['No defaults are set.', ...file, 'klines config set KEY VALUE sets one.'].join('\n')
    }
    const shown = derived(column('value', text()), ({ key, value }: Setting) => printable(formatValue(key, value)))
    const from = derived(column('from', text()), ({ source, overridden }: Setting) => {
      return `${source}${overridden ? ' (overridden)' : ''}`
    })
    return textTable(tableOf({ key: setting.key, shown, from }, values))
  },
)

const file = { path: text('the config file'), key: text() }

/** `config set`. */
export const ConfigSet = report(
  'klines-config-set',
  { ...file, value },
  ({ path, key, value }: Pick<Setting, 'key' | 'value'> & { readonly path: string }) => {
    return `Set ${key} to ${formatValue(key, value)} in ${path}.`
  },
)

/** `config unset`. */
export const ConfigUnset = report('klines-config-unset', file, ({ path, key }: { path: string; key: string }) => {
  return `Removed ${key} from ${path}.`
})
