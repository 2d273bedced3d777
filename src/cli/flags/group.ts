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
