/** What completion needs of oclif.manifest.json and package.json. */
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

interface ArgEntry {
  readonly name: string
  readonly options?: readonly string[]
  readonly multiple?: boolean
}

export interface FlagEntry extends Described, ArgEntry {
  readonly type: 'boolean' | 'option'
  readonly char?: string
  readonly helpValue?: string
  /** Joins several values in one word. */
  readonly delimiter?: string
  readonly hidden?: boolean
}

const MAX_DESCRIPTION = 80

/** The first sentence of a summary or description, cut to 80 characters, without the stop at its end. */
export function summaryOf({ summary, description }: Described): string {
  const [line] = (summary ?? description ?? '').trim().split('\n')
  const sentence = line.split('. ')[0].replace(/\.$/, '')
  return sentence.length > MAX_DESCRIPTION ? `${sentence.slice(0, MAX_DESCRIPTION - 1).trimEnd()}…` : sentence
}

/** The words that can follow `words` in the name of a command, with what each stands for. */
export function nextWords(words: readonly string[], { commands, topics }: CommandTable) {
  const found = new Map<string, string>()
  for (const [id, { hidden }] of Object.entries(commands)) {
    const parts = id.split(':')
    if (hidden || parts.length <= words.length || words.some((word, index) => word !== parts[index])) continue
    const path = parts.slice(0, words.length + 1).join(':')
    found.set(parts[words.length], summaryOf(commands[path] ?? topics[path] ?? {}))
  }
  return [...found].map(([value, description]) => ({ value, description }))
}

/** Reads `--name`, `--name=value`, `-n`, `-nvalue`, `-n=value` and several short flags in one word; unknown ones are left out. */
export function readFlagWord(word: string, { flags }: CommandEntry) {
  const known = Object.values(flags)
  if (word.startsWith('--')) {
    const [name] = word.slice(2).split('=', 1)
    const found = known.filter(flag => flag.name === name)
    const head = `--${name}=`
    return { flags: found, attached: word.startsWith(head) ? { head, value: word.slice(head.length) } : undefined }
  }
  const found: FlagEntry[] = []
  for (let index = 1; index < word.length; index++) {
    const flag = known.find(({ char }) => char === word[index])
    if (flag === undefined) break
    found.push(flag)
    if (flag.type === 'boolean') continue
    const start = index + (word[index + 1] === '=' ? 2 : 1)
    if (start >= word.length && !word.endsWith('=')) break
    return { flags: found, attached: { head: word.slice(0, start), value: word.slice(start) } }
  }
  return { flags: found, attached: undefined }
}

/** The words between the name of a command and the word to complete. `pending`: the flag whose value is the next word. */
export function readWords(words: readonly string[], command: CommandEntry) {
  const given = new Set<string>()
  const args: string[] = []
  let pending: FlagEntry | undefined
  let flagsEnded = false
  for (const word of words) {
    if (pending) pending = undefined
    else if (flagsEnded || !word.startsWith('-') || word === '-') args.push(word)
    else if (word === '--') flagsEnded = true
    else {
      const { flags, attached } = readFlagWord(word, command)
      for (const { name } of flags) given.add(name)
      const last = flags.at(-1)
      if (last?.type === 'option' && !attached) pending = last
    }
  }
  return { given, args, pending, flagsEnded }
}
