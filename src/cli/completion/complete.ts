import { EXCHANGE_INTERVALS } from '../../candles/intervals.js'
import { SYMBOLS } from '../../candles/symbols.js'
import { CANDLE_ENTRIES } from '../../options/candle-options.js'
import { OUTPUT_ENTRIES } from '../../options/output-options.js'
import { BINANCE, SAMPLE } from '../../sources/base-url.js'
import {
  type CommandEntry,
  type CommandTable,
  type FlagEntry,
  nextWords,
  readFlagWord,
  readWords,
  summaryOf,
} from './words.js'

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

/** What a value can be. */
interface Values {
  readonly kind: Completion['kind']
  readonly words: readonly string[]
  /** Whether several words can be joined by commas. */
  readonly list?: boolean
  /** Whether `btc` stands for BTCUSDT. Intervals differ by case: 1m is not 1M. */
  readonly ignoreCase?: boolean
}

/** Stands for every symbol or interval; never part of a list. */
const ALL = 'all'
const HELP = { value: '--help', description: 'Show help' }
const VERSION = { value: '--version', description: 'Show the version' }

/** Words for flags and arguments that also take others. */
const FLAG_WORDS = new Map<string, readonly string[]>([
  ['interval', [...EXCHANGE_INTERVALS, ALL]],
  ...[...CANDLE_ENTRIES, ...OUTPUT_ENTRIES].map(({ flag, option }) => [flag, option.values ?? []] as const),
  ['base-url', [SAMPLE, BINANCE]],
])
const ARG_WORDS = new Map<string, readonly string[]>([
  ['symbol', [...SYMBOLS, ALL]],
  ['interval', EXCHANGE_INTERVALS],
])

/**
 * Completes a command line. `words` are those after `klines` up to the cursor; the last one is to be completed, and empty when
 * the cursor follows a space.
 */
export function complete(words: readonly string[], table: CommandTable): Completion {
  const [before, current] = [words.slice(0, -1), words.at(-1) ?? '']
  if (before[0] === 'help') return matching(nextWords(before.slice(1), table), current)
  const names = nextWords(before, table)
  let length = before.length
  while (length > 0 && !Object.hasOwn(table.commands, before.slice(0, length).join(':'))) length--
  if (length > 0) {
    const command = table.commands[before.slice(0, length).join(':')]
    const { kind, candidates } = completeArguments(command, before.slice(length), current, table)
    return { kind, candidates: [...matching(names, current).candidates, ...candidates] }
  }
  const flags = current.startsWith('-') ? [HELP, ...(before.length === 0 ? [VERSION] : [])] : []
  return matching([...names, ...flags], current)
}

function matching(candidates: readonly Candidate[], start: string): Completion {
  return { kind: 'words', candidates: candidates.filter(({ value }) => value.startsWith(start)) }
}

/** Completes a word after the name of a command. */
function completeArguments(
  command: CommandEntry,
  before: readonly string[],
  current: string,
  table: CommandTable,
): Completion {
  const { given, args, pending, flagsEnded } = readWords(before, command)
  if (pending) return completeValue(flagValues(pending), '', current)
  const flagNames = (isLong: boolean) => {
    const open = Object.values(command.flags)
      .filter(({ name, multiple, hidden }) => !hidden && (multiple || !given.has(name)))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    const long = open.map(flag => ({ value: `--${flag.name}`, description: summaryOf(flag) }))
    const short = open.flatMap(flag => (flag.char ? { value: `-${flag.char}`, description: summaryOf(flag) } : []))
    return [...long, HELP, ...(isLong ? [] : short)]
  }
  if (!flagsEnded && current.startsWith('-')) {
    const { flags, attached } = readFlagWord(current, command)
    if (!attached) return matching(flagNames(current.startsWith('--')), current)
    const flag = flags.at(-1)
    if (flag?.type === 'option') return completeValue(flagValues(flag), attached.head, attached.value)
    return matching([], '')
  }
  const values = nextArgument(command, args, table)
  if (values) return completeValue(values, '', current)
  return matching(flagsEnded || current !== '' ? [] : flagNames(true), '')
}

/** What a flag takes; no words when nothing is known about it. */
export function flagValues({ name, options, helpValue, delimiter }: FlagEntry): Values {
  const words = options ?? FLAG_WORDS.get(name)
  if (words) return { kind: 'words', words, list: delimiter === ',' }
  return { kind: helpValue === 'FILE' ? 'files' : helpValue === 'DIR' ? 'folders' : 'words', words: [] }
}

/** What the next argument can be; undefined when the command takes no more. */
function nextArgument(command: CommandEntry, given: readonly string[], { commands }: CommandTable): Values | undefined {
  const args = Object.values(command.args)
  const next = args[given.length] ?? args.find(({ multiple }) => multiple)
  if (next === undefined) return undefined
  const { name, options, multiple } = next
  // The sides of a comparison.
  if (name === 'a' || name === 'b') return { kind: 'files', words: [] }
  if (name === 'key') {
    const keys = new Set(Object.values(commands).flatMap(({ flags }) => Object.keys(flags)))
    return { kind: 'words', words: [...keys].sort() }
  }
  const words = options ?? ARG_WORDS.get(name) ?? []
  const ignoreCase = name === 'symbol'
  if (!multiple) return { kind: 'words', words, ignoreCase }
  const used = given.flatMap(word => word.toUpperCase().split(','))
  if (used.includes(ALL.toUpperCase())) return undefined
  const left = words.filter(word => !used.includes(word.toUpperCase()) && (word !== ALL || given.length === 0))
  return { kind: 'words', words: left, list: true, ignoreCase }
}

/** Completes a value, or the last part of a list of them. `head` is what stands before it in the same word. */
function completeValue({ kind, words, list, ignoreCase }: Values, head: string, text: string): Completion {
  if (kind !== 'words') return { kind, candidates: [] }
  const fold = (word: string) => (ignoreCase ? word.toLowerCase() : word)
  const start = list ? text.lastIndexOf(',') + 1 : 0
  const [done, part] = [text.slice(0, start), fold(text.slice(start))]
  const used = fold(done).split(',')
  const candidates = words
    .filter(word => fold(word).startsWith(part) && !used.includes(fold(word)) && (start === 0 || word !== ALL))
    .map(word => ({ value: head + done + word }))
  return { kind, candidates }
}

/** What a shell takes as a plain word, without quotes: also the letters of any script. */
const PLAIN = /^[\w./,:=@+\p{L}\p{M}\p{Nd}-]+$/u

/**
 * The lines that the scripts of the shells read: `:words`, `:files` or `:folders`, then one candidate a line with a tab and its
 * description, if it has one. A candidate that a shell or a terminal could interpret is left out.
 */
export function formatCompletion({ kind, candidates }: Completion): string {
  const lines = candidates
    .filter(({ value }) => PLAIN.test(value))
    // A description without controls and other invisible characters.
    .map(({ value, description }) =>
      description ? `${value}\t${description.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')}` : value,
    )
  return [`:${kind}`, ...lines, ''].join('\n')
}
