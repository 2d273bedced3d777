// The entry of `klines __complete`, which the scripts of the shells run at each TAB: a bundle of its own, as oclif and the commands take
// longer to load than a person wants to wait.
import { readFileSync } from 'node:fs'
import { SOURCE_NAMES } from '../../candles/base-url.js'
import { EXCHANGE_INTERVALS } from '../../candles/intervals.js'
import { SYMBOLS } from '../../candles/symbols.js'
import { CANDLE_ENTRIES, OUTPUT_ENTRIES } from '../../options.js'
import { ownFile } from '../../version.js'

interface Described {
  readonly summary?: string
  readonly description?: string
}

export interface Parameter extends Described {
  readonly name: string
  readonly type?: 'boolean' | 'option'
  readonly char?: string
  readonly options?: readonly string[]
  readonly multiple?: boolean
  readonly helpValue?: string
}

type Parameters = Readonly<Record<string, Parameter>>
type CommandEntry = Described & { readonly args: Parameters; readonly flags: Parameters }

/** The commands of oclif.manifest.json by their words, joined by colons. */
export type CommandTable = Readonly<Record<string, CommandEntry>>

interface Candidate {
  readonly value: string
  readonly description?: string
}

/** What the word to complete can become. The shell completes the names of files and folders. */
interface Completion {
  readonly kind: 'words' | 'files' | 'folders'
  readonly candidates: readonly Candidate[]
}

const HELP = { value: '--help' }

/** Words for flags and arguments that also take others. */
export const WORDS = new Map<string, readonly string[]>([
  ['symbol', [...SYMBOLS, 'all']],
  ['interval', [...EXCHANGE_INTERVALS, 'all']],
  ...[...CANDLE_ENTRIES, ...OUTPUT_ENTRIES].map(({ flag, option }) => [flag, option.values ?? []] as const),
  ['base-url', SOURCE_NAMES],
])

/**
 * Prints how the last of the words up to the cursor can be completed: `:words`, `:files` or `:folders`, then a candidate a line with a
 * tab and its description.
 */
export function printCompletion(words: readonly string[]): void {
  const { commands } = JSON.parse(readFileSync(ownFile('../oclif.manifest.json'), 'utf8'))
  const { kind, candidates } = complete(words, commands)
  const lines = candidates.map(({ value, description }) => (description ? `${value}\t${description}` : value))
  process.stdout.write([`:${kind}`, ...lines, ''].join('\n'))
}

/** Completes a command line. The last one of `words` is empty when the cursor follows a space. */
export function complete(words: readonly string[], commands: CommandTable): Completion {
  const [before, current] = [words.slice(0, -1), words.at(-1) ?? '']
  if (before[0] === 'help') return matching(nextWords(before.slice(1), commands), current)
  const names = nextWords(before, commands)
  const id = before.map((_, index) => before.slice(0, index + 1).join(':')).findLast(id => Object.hasOwn(commands, id))
  if (id === undefined) {
    const flags = before.length === 0 ? [HELP, { value: '--version' }] : [HELP]
    return matching([...names, ...(current.startsWith('-') ? flags : [])], current)
  }
  const { kind, candidates } = completeArguments(commands, id, before, current)
  return { kind, candidates: [...matching(names, current).candidates, ...candidates] }
}

function matching(candidates: readonly Candidate[], start: string): Completion {
  return { kind: 'words', candidates: candidates.filter(({ value }) => value.startsWith(start)) }
}

function nextWords(words: readonly string[], commands: CommandTable): Candidate[] {
  const found = new Map<string, Candidate>()
  for (const parts of Object.keys(commands).map(id => id.split(':'))) {
    if (parts.length <= words.length || words.some((word, index) => word !== parts[index])) continue
    const [path, value] = [parts.slice(0, words.length + 1).join(':'), parts[words.length]]
    found.set(value, { value, description: summaryOf(commands[path] ?? {}) })
  }
  return [...found.values()]
}

/** The first sentence, without the stop at its end. */
function summaryOf({ summary, description = '' }: Described): string {
  return (summary ?? description).trim().split(/\n|\.(?: |$)/, 1)[0]
}

/** Completes a word after the name of a command. `before`: all words before it. */
function completeArguments(commands: CommandTable, id: string, before: readonly string[], current: string): Completion {
  const { flags: known, args } = commands[id]
  const flagWithValue = (word: string) =>
    Object.values(known).find(({ name, char, type }) => type === 'option' && [`--${name}`, `-${char}`].includes(word))
  let pending: Parameter | undefined
  let [count, flagsEnded] = [0, false]
  for (const word of before.slice(id.split(':').length)) {
    if (pending) pending = undefined
    else if (flagsEnded || !word.startsWith('-')) count++
    else if (word === '--') flagsEnded = true
    else pending = flagWithValue(word)
  }
  if (pending) return completeValue(pending, '', current)
  const [label, value] = current.split(/=(.*)/, 2)
  const flag = flagsEnded || value === undefined ? undefined : flagWithValue(label)
  if (flag) return completeValue(flag, `${label}=`, value)
  const all = Object.values(args)
  const next = all[count] ?? all.find(({ multiple }) => multiple)
  if (next && !current.startsWith('-')) {
    const keys = () => Object.values(commands).flatMap(({ flags }) => Object.keys(flags))
    return completeValue(next.name === 'key' ? { ...next, options: [...new Set(keys())].sort() } : next, '', current)
  }
  const flags = Object.values(known).map(flag => ({ value: `--${flag.name}`, description: summaryOf(flag) }))
  return matching(flagsEnded ? [] : [...flags, HELP], current)
}

/** Completes a value, or the last one of a list. `head` stands before it in the same word. */
function completeValue({ name, options, helpValue, multiple }: Parameter, head: string, text: string): Completion {
  // The sides of a comparison are files.
  if (helpValue === 'FILE' || name === 'a' || name === 'b') return { kind: 'files', candidates: [] }
  if (helpValue === 'DIR') return { kind: 'folders', candidates: [] }
  const start = multiple ? text.lastIndexOf(',') + 1 : 0
  const [done, part] = [text.slice(0, start), text.slice(start)]
  // `btc` stands for BTCUSDT. Intervals differ by case: 1m is not 1M.
  const fold = (word: string) => (name === 'symbol' ? word.toLowerCase() : word)
  const words = (options ?? WORDS.get(name) ?? []).filter(word => fold(word).startsWith(fold(part)))
  return { kind: 'words', candidates: words.map(word => ({ value: head + done + word })) }
}
