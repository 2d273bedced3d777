import * as Flags from '@oclif/core/flags'
import type { Flag } from '@oclif/core/interfaces'
import { CANDLE_ENTRIES, type CANDLE_OPTIONS } from '../../options/candle-options.js'
import type { FlagName, Option, OptionEntry, OptionValue } from '../../options/option.js'
import { OUTPUT_ENTRIES, type OUTPUT_OPTIONS } from '../../options/output-options.js'
import { variableOf } from './group.js'

/** The flags of a table of options, by what they parse to. */
type FlagsOf<Options extends Readonly<Record<string, Option>>> = {
  -readonly [Name in keyof Options & string as FlagName<Name>]: Flag<
    (Options[Name]['takes'] extends 'names' ? string[] : OptionValue<Options[Name]>) | undefined
  >
}

/** What other programs call these flags. */
export const ALIASES: Readonly<Record<string, string[]>> = { from: ['since', 'start'], to: ['end'] }

/** What shapes a file, and which candles it has. */
export const outputTableFlags = toFlags(OUTPUT_ENTRIES) as unknown as FlagsOf<typeof OUTPUT_OPTIONS>
export const candleTableFlags = toFlags(CANDLE_ENTRIES) as unknown as FlagsOf<typeof CANDLE_OPTIONS>

function toFlags(entries: readonly OptionEntry[]) {
  return Object.fromEntries(entries.map(({ flag, option }) => [flag, toFlag(flag, option)]))
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
