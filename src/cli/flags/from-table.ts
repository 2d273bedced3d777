import * as Flags from '@oclif/core/flags'
import type { Flag } from '@oclif/core/interfaces'
import type { FlagName, Option, OptionValue } from '../../options/option.js'
import { OUTPUT_ENTRIES, type OUTPUT_OPTIONS, type OutputRequest } from '../../options/output-options.js'

type Options = typeof OUTPUT_OPTIONS

/** What the flags of the table parse to: oclif returns one text, with its commas, for names from the environment. */
export type TableFlags = {
  -readonly [Name in keyof Options as FlagName<Name>]?:
    | (Options[Name]['takes'] extends 'names' ? string[] : OptionValue<Options[Name]>)
    | undefined
}

/** The flags of the table of options. */
export const tableFlags = Object.fromEntries(
  OUTPUT_ENTRIES.map(({ flag, option }) => [flag, toFlag(flag, option)]),
) as unknown as { [Name in keyof TableFlags]-?: Flag<TableFlags[Name]> }

/** Options of the library from flags. */
export function toOutputRequest(flags: TableFlags): OutputRequest {
  const values = OUTPUT_ENTRIES.map(({ name, flag, option }) => {
    const value = flags[flag]
    return [name, option.takes === 'names' && value !== undefined ? [value].flat() : value]
  })
  return Object.fromEntries(values)
}

function toFlag(name: string, { takes, values = [], range, summary, placeholder, variable }: Option) {
  const env = variable ?? `KLINES_${name.replaceAll('-', '_').toUpperCase()}`
  const shared = { summary, helpValue: placeholder, env, helpGroup: 'output' }
  switch (takes) {
    case 'choice':
      return Flags.option({ ...shared, options: values })()
    case 'names':
      return Flags.string({ ...shared, multiple: true, multipleNonGreedy: true, delimiter: ',' })
    case 'number':
      return Flags.integer({ ...shared, ...range })
    case 'text':
      return Flags.string(shared)
    case 'switch':
      return Flags.boolean({ summary, env, helpGroup: 'output' })
  }
}
