import * as Flags from '@oclif/core/flags'
import type { Flag } from '@oclif/core/interfaces'
import { expandHome } from '../../fs/folders.js'
import type { FlagName, Option, OptionValue } from '../../options.js'
import { CANDLE_ENTRIES, type CANDLE_OPTIONS, OUTPUT_ENTRIES, type OUTPUT_OPTIONS } from '../../options.js'

type Group = 'what' | 'range' | 'output' | 'network' | 'appearance'

/** Puts flags under a heading of the help, and gives each the variable of its name unless it has one of its own. */
export function inGroup<T extends Record<string, { helpGroup?: string; env?: string }>>(group: Group, flags: T): T {
  for (const [name, flag] of Object.entries(flags)) {
    flag.helpGroup = group
    flag.env ??= variableOf(name)
  }
  return flags
}

/** `KLINES_DRY_RUN` for `dry-run`. */
export function variableOf(flag: string): string {
  return `KLINES_${flag.replaceAll('-', '_').toUpperCase()}`
}

export function pick<All extends object, Name extends keyof All>(flags: All, ...names: Name[]): Pick<All, Name> {
  return Object.fromEntries(names.map(name => [name, flags[name]])) as Pick<All, Name>
}

/** A path; no shell has seen the value of a variable, of the user's file, or of `--mirror=~/candles`. */
export const pathFlag = Flags.custom<string>({ parse: async path => expandHome(path) })

/** Several values of a flag: repeated, or joined by commas. */
export const LIST = { multiple: true, multipleNonGreedy: true, delimiter: ',' } as const

/** What other programs call these flags. */
export const ALIASES: Readonly<Record<string, string[]>> = { from: ['since', 'start'], to: ['end'] }

/** The flags of a table of options, by what they parse to. */
type FlagsOf<Options extends Readonly<Record<string, Option>>> = {
  -readonly [Name in keyof Options & string as FlagName<Name>]: Flag<
    (Options[Name]['takes'] extends 'names' ? string[] : OptionValue<Options[Name]>) | undefined
  >
}

export const outputTableFlags = toFlags(OUTPUT_ENTRIES) as unknown as FlagsOf<typeof OUTPUT_OPTIONS>
export const candleTableFlags = toFlags(CANDLE_ENTRIES) as unknown as FlagsOf<typeof CANDLE_OPTIONS>

function toFlags(entries: readonly { readonly flag: string; readonly option: Option }[]) {
  return Object.fromEntries(entries.map(({ flag, option }) => [flag, toFlag(flag, option)]))
}

function toFlag(name: string, { takes, values = [], range, summary, placeholder, ...option }: Option) {
  const helpGroup = option.helpGroup ?? 'output'
  const env = variableOf(name)
  const shared = { summary, helpValue: placeholder, env, helpGroup, aliases: ALIASES[name] }
  switch (takes) {
    case 'choice':
      return Flags.option({ ...shared, options: values })()
    case 'names':
      return Flags.string({ ...shared, ...LIST })
    case 'number':
      return Flags.integer({ ...shared, ...range })
    case 'text':
      return Flags.string(shared)
    case 'switch':
      return Flags.boolean({ summary, env, helpGroup })
  }
}
