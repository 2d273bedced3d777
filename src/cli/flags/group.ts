/** The heading of the help under which flags are listed. */
export type Group = 'what' | 'range' | 'output' | 'network' | 'appearance'

/** Puts flags under a heading. */
export function inGroup<T extends Record<string, { helpGroup?: string }>>(group: Group, flags: T): T {
  for (const flag of Object.values(flags)) flag.helpGroup = group
  return flags
}
