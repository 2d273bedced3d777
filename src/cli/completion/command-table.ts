/** The commands as oclif.manifest.json and package.json describe them: what completion needs of it. */
export interface CommandTable {
  /** By id: the words of a command, joined by colons. */
  readonly commands: Readonly<Record<string, CommandEntry>>
  readonly topics: Readonly<Record<string, Described>>
}

interface Described {
  readonly summary?: string
  readonly description?: string
}

export interface CommandEntry extends Described {
  readonly hidden?: boolean
  readonly args: Readonly<Record<string, ArgEntry>>
  readonly flags: Readonly<Record<string, FlagEntry>>
}

export interface ArgEntry {
  readonly name: string
  readonly options?: readonly string[]
  readonly multiple?: boolean
}

export interface FlagEntry extends Described {
  readonly name: string
  /** A boolean flag has no value. */
  readonly type: 'boolean' | 'option'
  readonly char?: string
  readonly options?: readonly string[]
  readonly helpValue?: string
  readonly multiple?: boolean
  /** Joins several values in one word. */
  readonly delimiter?: string
  readonly hidden?: boolean
}

const MAX_DESCRIPTION = 80

/** The first sentence of a summary or description, cut to 80 characters, without the stop at its end. */
export function describe({ summary, description }: Described): string {
  const [line] = (summary ?? description ?? '').trim().split('\n')
  const sentence = line.split('. ')[0].replace(/\.$/, '')
  return sentence.length > MAX_DESCRIPTION ? `${sentence.slice(0, MAX_DESCRIPTION - 1).trimEnd()}…` : sentence
}

/** The command that the longest start of `words` names, and the number of words in its name. */
export function findCommand(
  words: readonly string[],
  { commands }: CommandTable,
): { command: CommandEntry; length: number } | undefined {
  for (let length = words.length; length > 0; length--) {
    const id = words.slice(0, length).join(':')
    if (Object.hasOwn(commands, id)) return { command: commands[id], length }
  }
  return undefined
}

/** The words that can follow `words` in the name of a command, with what each stands for. */
export function nextWords(words: readonly string[], { commands, topics }: CommandTable): Map<string, string> {
  const found = new Map<string, string>()
  for (const [id, { hidden }] of Object.entries(commands)) {
    const parts = id.split(':')
    if (hidden || parts.length <= words.length || words.some((word, index) => word !== parts[index])) continue
    const path = parts.slice(0, words.length + 1).join(':')
    found.set(parts[words.length], describe(commands[path] ?? topics[path] ?? {}))
  }
  return found
}
