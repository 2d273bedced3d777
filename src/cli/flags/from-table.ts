import * as Flags from '@oclif/core/flags'
import type { Flag } from '@oclif/core/interfaces'
import { CANDLE_ENTRIES, type CANDLE_OPTIONS } from '../../options/candle-options.js'
import type { FlagName, Option, OptionEntry, OptionValue } from '../../options/option.js'
import { OUTPUT_ENTRIES, type OUTPUT_OPTIONS, type OutputRequest } from '../../options/output-options.js'
import { variableOf } from './group.js'

/** What the flags of a table parse to. */
type FlagsOf<Options extends Readonly<Record<string, Option>>> = {
  -readonly [Name in keyof Options & string as FlagName<Name>]?:
    | (Options[Name]['takes'] extends 'names' ? string[] : OptionValue<Options[Name]>)
    | undefined
}
type Definitions<Parsed> = { [Name in keyof Parsed]-?: Flag<Parsed[Name]> }

/** What the flags of what shapes a file parse to. */
export type OutputTableFlags = FlagsOf<typeof OUTPUT_OPTIONS>
/** What the flags of which candles it has parse to. */
export type CandleTableFlags = FlagsOf<typeof CANDLE_OPTIONS>

/** What other programs call these flags. */
export const ALIASES: Readonly<Record<string, string[]>> = { from: ['since', 'start'], to: ['end'] }

/** The flags of the tables of options. */
export const outputTableFlags = toFlags(OUTPUT_ENTRIES) as unknown as Definitions<OutputTableFlags>
export const candleTableFlags = toFlags(CANDLE_ENTRIES) as unknown as Definitions<CandleTableFlags>

function toFlags(entries: readonly OptionEntry[]) {
  return Object.fromEntries(entries.map(({ flag, option }) => [flag, toFlag(flag, option)]))
}

/** Options of the library from flags. */
export function toOutputRequest(flags: OutputTableFlags): OutputRequest {
  return Object.fromEntries(OUTPUT_ENTRIES.map(({ name, flag }) => [name, flags[flag]]))
}

function toFlag(name: string, option: Option) {
  const { takes, values = [], range, summary, placeholder, helpGroup = 'output' } = option
  const env = variableOf(name)
  const shared = { summary, helpValue: placeholder, env, helpGroup, aliases: ALIASES[name] }
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
      return Flags.boolean({ summary, env, helpGroup })
  }
}
