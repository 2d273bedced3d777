import { isIntervalWord, nearestInterval } from '../candles/intervals.js'
import { nearest } from '../candles/suggest.js'
import { splitSymbol, toSymbolName } from '../candles/symbols.js'
import { quoteWord, splitNames } from '../candles/text.js'

type Words = Readonly<Record<string, readonly string[]>>

/** What other programs call commands, by what does their work here. */
export const COMMANDS: Words = {
  download: ['get', 'fetch', 'download-data'],
  verify: ['check'],
  chart: ['plot'],
  mirror: ['list-data'],
  symbols: ['list', 'list-pairs', 'list-markets'],
  'export --layout hive, and DuckDB on it': ['query', 'sql'],
}

/** The same of flags, and what is done here without a flag of its own. */
const FLAGS: Words = {
  interval: ['t', 'tf', 'timeframes'],
  from: ['begin', 'start-date', 'start-time'],
  to: ['until', 'end-date', 'end-time'],
  last: ['days'],
  force: ['overwrite'],
  format: ['output-format', 'data-format'],
  output: ['dir', 'output-dir', 'filename'],
  'base-url': ['exchange', 'url'],
  'Symbols need no flag, as in klines download BTCUSDT -i 1h.': ['s', 'p', 'symbol', 'symbols', 'pair', 'pairs'],
  'Name both ends: --from 2025-01-01 --to 2025-02-01.': ['timerange'],
}

export function lookUp(table: Words, word: string): string | undefined {
  return Object.keys(table).find(meaning => table[meaning].includes(word))
}

/** What helps in place of a flag that a command does not have: one of its `flags`, or advice. */
export function hintFlag(given: string, flags: Readonly<Record<string, { readonly char?: string }>>): string[] {
  const word = given.toLowerCase().replace(/^-+|=.*$/g, '')
  const name = lookUp(FLAGS, word) ?? nearest(word, Object.keys(flags))
  if (name?.endsWith('.')) return flags.interval ? [name] : []
  if (name === undefined || !flags[name]) return []
  const { char } = flags[name]
  return [`Did you mean ${char && !given.startsWith('--') ? `-${char}` : `--${name}`}?`]
}

/**
 * Asks for the command line that symbols and intervals were meant to be: `klines download BTC/USDT -i 1h,1d` for `BTC/USDT 1h 1d`; not for
 * other words. Those from the first flag on, `-i` aside, are left out. `interval`: what symbols alone get.
 */
export function spellOut(id: string, words: readonly string[] = [], interval = ''): string[] {
  const end = words.findIndex(word => word.startsWith('-') && word !== '-i')
  const typed = words.slice(0, end === -1 ? undefined : end)
  const names = splitNames(typed.filter(word => word !== '-i'))
  const symbols = names.filter(name => splitSymbol(toSymbolName(name)))
  const intervals = names.filter(isIntervalWord).map(nearestInterval)
  const list = [...new Set(intervals)].join() || interval
  if (symbols.length === 0 || symbols.length + intervals.length < names.length || list === '') return []
  return [`Did you mean klines ${id} ${symbols.map(quoteWord).join(' ')} -i ${list}?`]
}
