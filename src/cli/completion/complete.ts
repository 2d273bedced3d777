import { type CommandEntry, type CommandTable, describe, findCommand, nextWords } from './command-table.js'
import { ALL, argValues, flagValues, type ReadWords, readFlagWord, readWords, type Values } from './values.js'

/** A whole word that can replace the one to complete. */
interface Candidate {
  readonly value: string
  readonly description?: string
}

/** What the word to complete can become: one of the candidates, or the name of a file or folder, which the shell completes. */
interface Completion {
  readonly kind: Values['kind']
  readonly candidates: readonly Candidate[]
}

const HELP = { value: '--help', description: 'Show help' }
const VERSION = { value: '--version', description: 'Show the version' }

/**
 * Completes a command line. `words` are those after `klines` up to the cursor; the last one is to be completed, and empty when
 * the cursor follows a space.
 */
export function complete(words: readonly string[], table: CommandTable): Completion {
  const [before, current] = [words.slice(0, -1), words.at(-1) ?? '']
  if (before[0] === 'help') return toWords(commandNames(before.slice(1), table), current)
  const found = findCommand(before, table)
  const names = commandNames(before, table)
  if (found) {
    const completion = completeArguments(found.command, before.slice(found.length), current, table)
    return { ...completion, candidates: [...toWords(names, current).candidates, ...completion.candidates] }
  }
  if (current.startsWith('-')) names.push(HELP, ...(before.length === 0 ? [VERSION] : []))
  return toWords(names, current)
}

function commandNames(before: readonly string[], table: CommandTable): Candidate[] {
  return [...nextWords(before, table)].map(([value, description]) => ({ value, description }))
}

/** Completes a word after the name of a command. */
function completeArguments(
  command: CommandEntry,
  before: readonly string[],
  current: string,
  table: CommandTable,
): Completion {
  const read = readWords(before, command)
  if (read.pending) return completeValue(flagValues(read.pending), '', current)
  if (!read.flagsEnded && current.startsWith('-')) {
    const { flags, attached } = readFlagWord(current, command)
    const flag = flags.at(-1)
    if (!attached) return toWords(flagNames(command, read.given, current), current)
    return flag?.type === 'option' ? completeValue(flagValues(flag), attached.head, attached.value) : toWords([], '')
  }
  const values = nextArgument(command, read, table)
  if (values) return completeValue(values, '', current)
  return toWords(read.flagsEnded || current !== '' ? [] : flagNames(command, read.given, '--'), '')
}

/** What the next argument can be; undefined when the command takes no more. */
function nextArgument({ args }: CommandEntry, read: ReadWords, table: CommandTable): Values | undefined {
  const entries = Object.values(args)
  const next = entries[read.args.length] ?? entries.find(({ multiple }) => multiple)
  if (next === undefined) return undefined
  const values = argValues(next, table)
  if (!next.multiple) return values
  const given = read.args.flatMap(word => word.split(',')).map(word => word.toUpperCase())
  if (given.includes(ALL.toUpperCase())) return undefined
  const words = values.words.filter(word => !given.includes(word.toUpperCase()))
  return { ...values, words: read.args.length > 0 ? words.filter(word => word !== ALL) : words }
}

/** The flags that were not given yet or can be repeated; short ones only after a single dash. */
function flagNames({ flags }: CommandEntry, given: ReadonlySet<string>, current: string): Candidate[] {
  const open = Object.values(flags)
    .filter(({ name, multiple, hidden }) => !hidden && (multiple || !given.has(name)))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const long = open.map(flag => ({ value: `--${flag.name}`, description: describe(flag) }))
  const short = open.flatMap(flag => (flag.char ? [{ value: `-${flag.char}`, description: describe(flag) }] : []))
  return [...long, HELP, ...(current.startsWith('--') ? [] : short)]
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

function toWords(candidates: readonly Candidate[], current: string): Completion {
  return { kind: 'words', candidates: candidates.filter(({ value }) => value.startsWith(current)) }
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
    .map(({ value, description }) => (description ? `${value}\t${toLine(description)}` : value))
  return [`:${kind}`, ...lines, ''].join('\n')
}

/** Text without controls and other invisible characters. */
function toLine(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
}
