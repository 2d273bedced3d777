import { EXCHANGE_INTERVALS } from '../../klines/intervals.js'
import { SYMBOLS } from '../../klines/symbols.js'
import { CANDLE_ENTRIES } from '../../options/candle-options.js'
import { OUTPUT_ENTRIES } from '../../options/output-options.js'
import { BINANCE, SAMPLE } from '../../sources/base-url.js'
import type { ArgEntry, CommandEntry, CommandTable, FlagEntry } from './command-table.js'

/** What a value can be. */
export interface Values {
  /** Words to choose from; the shell itself completes files and folders. */
  readonly kind: 'words' | 'files' | 'folders'
  readonly words: readonly string[]
  /** Whether several words can be joined by commas. */
  readonly list?: boolean
  /** Whether `btc` stands for BTCUSDT. Intervals differ by case: 1m is not 1M. */
  readonly ignoreCase?: boolean
}

/** Stands for every symbol or interval; never part of a list. */
export const ALL = 'all'

/** Words for flags that also take others. */
const FLAG_WORDS: Readonly<Record<string, readonly string[]>> = {
  interval: [...EXCHANGE_INTERVALS, ALL],
  ...Object.fromEntries([...CANDLE_ENTRIES, ...OUTPUT_ENTRIES].map(({ flag, option }) => [flag, option.values ?? []])),
  'base-url': [SAMPLE, BINANCE],
}

const ARG_WORDS: Readonly<Record<string, readonly string[]>> = {
  symbol: [...SYMBOLS, ALL],
  interval: EXCHANGE_INTERVALS,
  time: ['today', 'yesterday'],
}

/** Arguments that are files or folders. */
const FILE_ARGS = ['a', 'b']

/** What a flag takes; no words when nothing is known about it. */
export function flagValues({ name, options, helpValue, delimiter }: FlagEntry): Values {
  const words = options ?? (Object.hasOwn(FLAG_WORDS, name) ? FLAG_WORDS[name] : undefined)
  if (words) return { kind: 'words', words, list: delimiter === ',' }
  const kind = helpValue === 'FILE' ? 'files' : helpValue === 'DIR' ? 'folders' : 'words'
  return { kind, words: [] }
}

/** What an argument takes; no words when nothing is known about it. */
export function argValues({ name, options, multiple }: ArgEntry, { commands }: CommandTable): Values {
  if (name === 'key') {
    const keys = new Set(Object.values(commands).flatMap(({ flags }) => Object.keys(flags)))
    return { kind: 'words', words: [...keys].sort() }
  }
  const known = options ?? (Object.hasOwn(ARG_WORDS, name) ? ARG_WORDS[name] : [])
  const words = multiple ? known : known.filter(word => word !== ALL)
  if (FILE_ARGS.includes(name)) return { kind: 'files', words }
  return { kind: 'words', words, list: multiple === true, ignoreCase: name === 'symbol' }
}

/** A word of the command line that starts with a dash. */
interface FlagWord {
  /** The flags in it; unknown ones are left out. */
  readonly flags: readonly FlagEntry[]
  /** The value in the same word, as in `--format=csv` and `-fcsv`, and all that stands before it. */
  readonly attached?: { readonly head: string; readonly value: string }
}

/** The words after the name of a command. */
export interface ReadWords {
  /** Names of the flags in them. */
  readonly given: ReadonlySet<string>
  readonly args: readonly string[]
  /** The flag whose value is the next word. */
  readonly pending: FlagEntry | undefined
  /** Whether `--` ended the flags. */
  readonly flagsEnded: boolean
}

/** Reads `--name`, `--name=value`, `-n`, `-nvalue`, `-n=value` and several short flags in one word. */
export function readFlagWord(word: string, { flags }: CommandEntry): FlagWord {
  const known = Object.values(flags)
  if (word.startsWith('--')) {
    const [name] = word.slice(2).split('=', 1)
    const flag = known.find(entry => entry.name === name)
    const head = `--${name}=`
    if (!word.startsWith(head)) return { flags: flag ? [flag] : [] }
    return { flags: flag ? [flag] : [], attached: { head, value: word.slice(head.length) } }
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
  return { flags: found }
}

/** Reads the words between the name of a command and the word to complete. */
export function readWords(words: readonly string[], command: CommandEntry): ReadWords {
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
