import Type, { type TSchema } from 'typebox'
import { QUERIED_CANDLES } from '../../options/candle-options.js'
import type { Option } from '../../options/option.js'
import { OUTPUT_ENTRIES } from '../../options/output-options.js'

/** The options of which something holds. */
function describe(isMeant: (option: Option) => boolean): Record<string, TSchema> {
  const entries = [...QUERIED_CANDLES, ...OUTPUT_ENTRIES].filter(({ option }) => isMeant(option))
  return Object.fromEntries(entries.map(({ flag, option }) => [flag, Type.Optional(toSchema(option))]))
}

function toSchema({ takes, values = [], summary, description = summary, example }: Option): TSchema {
  const details = { description, ...(example === undefined ? {} : { examples: [example] }) }
  if (takes === 'choice') return Type.Enum([...values], { type: 'string', ...details })
  if (takes === 'number') return Type.Integer(details)
  return takes === 'switch' ? Type.Boolean(details) : Type.String(details)
}

/**
 * The query of an export, for its OpenAPI description; `parseParameters` checks the values. The examples fit together, because
 * the API reference sends all of them.
 */
export const QuerySchema = Type.Object({
  ...describe(({ helpGroup }) => helpGroup === 'range'),
  ...describe(({ group }) => group === 'how they are written'),
  ...describe(({ group, helpGroup }) => group === 'which candles' && helpGroup !== 'range'),
  ...describe(({ group }) => group === 'how pictures look'),
})
