// The entry of `klines __complete`, which the scripts of the shells run at each TAB: bin/bundle.js makes one small file of it,
// because oclif and the commands take longer to load than a person wants to wait.
import { readFileSync } from 'node:fs'
import { EXCHANGE_INTERVALS } from '../../candles/intervals.js'
import { SYMBOLS } from '../../candles/symbols.js'
import { CANDLE_ENTRIES, OUTPUT_ENTRIES } from '../../options.js'
import { BINANCE, SAMPLE } from '../../sources/base-url.js'
import { PACKAGE_URL } from '../../version.js'

interface Described {
  readonly summary?: string
  readonly description?: string
}

/** An argument or a flag in oclif.manifest.json. */
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

/** What completion needs of oclif.manifest.json and package.json: commands by their words, joined by colons. */
export interface CommandTable {
  readonly commands: Readonly<Record<string, CommandEntry>>
  readonly topics: Readonly<Record<string, Described>>
}

/** A whole word that can replace the one to complete. */
interface Candidate {
  readonly value: string
  readonly description?: string
}

/** What the word to complete can become: one of the candidates, or the name of a file or folder, which the shell completes. */
interface Completion {
  readonly kind: 'words' | 'files' | 'folders'
  readonly candidates: readonly Candidate[]
}

/** Stands for every symbol or interval; never part of a list. */
const ALL = 'all'
const [HELP, VERSION] = [{ value: '--help' }, { value: '--version' }]

/** Words for flags and arguments that also take others. */
export const WORDS = new Map<string, readonly string[]>([
  ['symbol', [...SYMBOLS, ALL]],
  ['interval', [...EXCHANGE_INTERVALS, ALL]],
  ...[...CANDLE_ENTRIES, ...OUTPUT_ENTRIES].map(({ flag, option }) => [flag, option.values ?? []] as const),
  ['base-url', [SAMPLE, BINANCE]],
])

/**
 * Prints how the last of `words`, those after `klines` up to the cursor, can be completed, as the scripts of the shells read it: `:words`,
 * `:files` or `:folders`, then one candidate a line with a tab and its description.
 */
export function printCompletion(words: readonly string[]): void {
  const read = (name: string) => JSON.parse(readFileSync(new URL(name, PACKAGE_URL), 'utf8'))
  const table = { commands: read('oclif.manifest.json').commands, topics: read('package.json').oclif.topics }
  const { kind, candidates } = complete(words, table)
  const lines = candidates.map(({ value, description }) => (description ? `${value}\t${description}` : value))
  process.stdout.write([`:${kind}`, ...lines, ''].join('\n'))
}

/** Completes a command line. The last one of `words` is empty when the cursor follows a space. */
export function complete(words: readonly string[], table: CommandTable): Completion {
  const [before, current] = [words.slice(0, -1), words.at(-1) ?? '']
  if (before[0] === 'help') return matching(nextWords(before.slice(1), table), current)
  const names = nextWords(before, table)
  let length = before.length
  while (length > 0 && !Object.hasOwn(table.commands, before.slice(0, length).join(':'))) length--
  const flags = current.startsWith('-') ? [HELP, ...(before.length === 0 ? [VERSION] : [])] : []
  if (length === 0) return matching([...names, ...flags], current)
  const command = table.commands[before.slice(0, length).join(':')]
  const { kind, candidates } = completeArguments(command, before.slice(length), current, table)
  return { kind, candidates: [...matching(names, current).candidates, ...candidates] }
}

function matching(candidates: readonly Candidate[], start: string): Completion {
  return { kind: 'words', candidates: candidates.filter(({ value }) => value.startsWith(start)) }
}

/** The words that can follow `words` in the name of a command, with what each stands for. */
function nextWords(words: readonly string[], { commands, topics }: CommandTable): Candidate[] {
  const found = new Map<string, Candidate>()
  for (const parts of Object.keys(commands).map(id => id.split(':'))) {
    if (parts.length <= words.length || words.some((word, index) => word !== parts[index])) continue
    const [path, value] = [parts.slice(0, words.length + 1).join(':'), parts[words.length]]
    found.set(value, { value, description: summaryOf(commands[path] ?? topics[path] ?? {}) })
  }
  return [...found.values()]
}

/** The first sentence of a summary or description, without the stop at its end. */
function summaryOf({ summary, description = '' }: Described): string {
  return (summary ?? description).trim().split(/\n|\.(?: |$)/, 1)[0]
}

/** Completes a word after the name of a command. `before`: the words between them. */
function completeArguments(command: CommandEntry, before: string[], current: string, table: CommandTable): Completion {
  const known = Object.values(command.flags)
  const flagOf = (word: string) => known.find(({ name, char }) => word === `--${name}` || word === `-${char}`)
  const given = new Set<string>()
  const args: string[] = []
  let pending: Parameter | undefined
  let flagsEnded = false
  for (const word of before) {
    if (pending) pending = undefined
    else if (flagsEnded || !word.startsWith('-') || word === '-') args.push(word)
    else if (word === '--') flagsEnded = true
    else {
      const flag = flagOf(word.split('=', 1)[0])
      if (flag) given.add(flag.name)
      if (flag?.type === 'option' && !word.includes('=')) pending = flag
    }
  }
  if (pending) return completeValue(pending, '', current)
  const open = known.filter(({ name, multiple }) => multiple || !given.has(name))
  const flags = open.map(flag => ({ value: `--${flag.name}`, description: summaryOf(flag) }))
  const [label] = current.split('=', 1)
  if (!flagsEnded && current.startsWith('-')) {
    const flag = current.includes('=') ? flagOf(label) : undefined
    if (flag?.type === 'option') return completeValue(flag, `${label}=`, current.slice(label.length + 1))
    return matching([...flags, HELP], current)
  }
  const all = Object.values(command.args)
  const next = all[args.length] ?? all.find(({ multiple }) => multiple)
  if (next === undefined) return matching(flagsEnded || current !== '' ? [] : [...flags, HELP], '')
  const keys = () => [...new Set(Object.values(table.commands).flatMap(({ flags }) => Object.keys(flags)))].sort()
  return completeValue(next.name === 'key' ? { ...next, options: keys() } : next, '', current, args)
}

/** Completes a value, or the last part of a list of them. `head` stands before it in the same word, `given` are the values before. */
function completeValue(parameter: Parameter, head: string, text: string, given: readonly string[] = []): Completion {
  const { name, options, helpValue, multiple } = parameter
  // The sides of a comparison are files.
  if (helpValue === 'FILE' || name === 'a' || name === 'b') return { kind: 'files', candidates: [] }
  if (helpValue === 'DIR') return { kind: 'folders', candidates: [] }
  // `btc` stands for BTCUSDT. Intervals differ by case: 1m is not 1M.
  const fold = (word: string) => (name === 'symbol' ? word.toLowerCase() : word)
  const start = multiple ? text.lastIndexOf(',') + 1 : 0
  const [done, part] = [text.slice(0, start), fold(text.slice(start))]
  const used = [...given, done].flatMap(word => fold(word).split(',')).filter(word => word !== '')
  const isOpen = (word: string) => !used.includes(word) && (word !== ALL || (multiple === true && used.length === 0))
  const words = used.includes(ALL) ? [] : (options ?? WORDS.get(name) ?? [])
  const candidates = words.filter(word => fold(word).startsWith(part) && isOpen(fold(word)))
  return { kind: 'words', candidates: candidates.map(word => ({ value: head + done + word })) }
}
