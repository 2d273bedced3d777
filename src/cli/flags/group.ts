import type { Flag } from '@oclif/core/interfaces'

/** The heading of the help under which flags are listed. */
export type Group = 'what' | 'range' | 'output' | 'network' | 'appearance'

/** Puts flags under a heading. */
export function inGroup<T extends Record<string, { helpGroup?: string }>>(group: Group, flags: T): T {
  for (const flag of Object.values(flags)) flag.helpGroup = group
  return flags
}

type ValueOf<Definition> = Definition extends Flag<infer Value> ? Value : never

/** What flags parse to: a switch, and a flag with a default, have a value, another one may be missing. */
export type FlagsOf<Definitions> = {
  -readonly [Name in keyof Definitions as undefined extends ValueOf<Definitions[Name]> ? Name : never]?: ValueOf<
    Definitions[Name]
  >
} & {
  -readonly [Name in keyof Definitions as undefined extends ValueOf<Definitions[Name]> ? never : Name]: ValueOf<
    Definitions[Name]
  >
}
