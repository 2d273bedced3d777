import Type, { type TSchema } from 'typebox'
import type { Option, OptionGroup } from '../../options/option.js'
import { OUTPUT_ENTRIES } from '../../options/output-options.js'

const TIME_FORMS =
  'UTC unless it has an offset: 2024, 2024-01, 2024-01-31, 2024-01-31T12:00; now, today, yesterday, -7d; or a Unix time ' +
  'of 10 digits (s) or 13 digits (ms)'

const [rows, pictures] = [describeGroup('how they are written'), describeGroup('how pictures look')]

/** The options of the table in a group. */
function describeGroup(group: OptionGroup): Record<string, TSchema> {
  const entries = OUTPUT_ENTRIES.filter(({ option }) => option.group === group)
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
  from: Type.Optional(
    Type.String({ description: `First open time. ${TIME_FORMS}. Default: the first candle`, examples: ['2025-01-01'] }),
  ),
  to: Type.Optional(
    Type.String({
      description:
        'End of the open times, which is not part of the range; in the forms of from. Default: the last candle',
      examples: ['2025-02-01'],
    }),
  ),
  last: Type.Optional(
    Type.String({
      description:
        'Length of time before to, or before now, such as 90d: a number and h, d, w, M or y. Instead of from',
    }),
  ),
  ...rows,
  resample: Type.Optional(
    Type.String({
      description: 'Longer candles, built from these: a number and m, h, d, w, M, q or y',
      examples: ['1d'],
    }),
  ),
  partial: Type.Optional(
    Type.Boolean({
      description: 'Whether resample keeps incomplete candles at either end. Default: false',
      examples: [false],
    }),
  ),
  ...pictures,
})
