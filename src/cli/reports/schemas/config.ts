import Type from 'typebox'
import { flag, list, nullable, object, oneOf, report, Text, text } from './words.js'

const value = Type.Union([Text, Type.Number(), Type.Boolean(), list(Type.Union([Text, Type.Number()]))])

/** `config --json`. */
export const ConfigSchema = report('klines-config', {
  values: list(
    object({
      key: text('the long name of a flag'),
      value,
      origin: oneOf(['environment', 'user']),
      source: text('the variable or the file'),
      overridden: flag('whether a variable overrides it'),
    }),
    'by key, the strongest first',
  ),
  path: nullable(Text, 'your config file, which may be missing'),
})

const file = { path: text('the config file') }

/** `config set --json`. */
export const ConfigSetSchema = report('klines-config-set', { ...file, key: Text, value })

/** `config unset --json`. */
export const ConfigUnsetSchema = report('klines-config-unset', { ...file, key: Text })

/** `completion --json`. */
export const CompletionSchema = report('klines-completion', { shell: oneOf(['bash', 'zsh', 'fish']), script: Text })

/** `version --json`, which has no warnings. */
export const VersionSchema = Type.Object(
  { name: Text, version: Text, platform: text('such as linux-x64'), node: text('its version') },
  { $id: 'klines-version', additionalProperties: false },
)

/** What any command prints with `--json` when it fails. */
export const ErrorSchema = report('klines-error', {
  error: object({
    code: Text,
    message: Text,
    exitCode: Type.Integer({ minimum: 1, maximum: 255 }),
    suggestions: list(Text),
    data: Type.Optional(Type.Record(Text, Type.Unknown())),
  }),
})

export type ConfigObject = Type.Static<typeof ConfigSchema>
export type ConfigSetObject = Type.Static<typeof ConfigSetSchema>
export type ConfigUnsetObject = Type.Static<typeof ConfigUnsetSchema>
export type ErrorObject = Type.Static<typeof ErrorSchema>
