import type { Flag } from '@oclif/core/interfaces'

/** The heading of the help under which flags are listed. */
type Group = 'what' | 'range' | 'output' | 'network' | 'appearance'

/** Puts flags under a heading. Each has the variable that its name stands for, unless it has another meaning than others of its name. */
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

/** Some of these flags, in the order of their names. */
export function pick<Flags extends object, Name extends keyof Flags>(
  flags: Flags,
  ...names: Name[]
): Pick<Flags, Name> {
  return Object.fromEntries(names.map(name => [name, flags[name]])) as Pick<Flags, Name>
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
