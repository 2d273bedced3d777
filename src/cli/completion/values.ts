import { BINANCE, SAMPLE } from '../../http/base-url.js'
import { EXCHANGE_INTERVALS } from '../../klines/intervals.js'
import { SYMBOLS } from '../../klines/symbols.js'
import { CANDLE_ENTRIES } from '../../options/candle-options.js'
import { OUTPUT_ENTRIES } from '../../options/output-options.js'
import { FOLDER_GROUPS, USER_GROUPS } from '../config/key-groups.js'
import type { ArgEntry, FlagEntry } from './command-table.js'

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
  key: [...FOLDER_GROUPS, ...USER_GROUPS].flatMap(({ names }) => names).sort(),
  symbol: [...SYMBOLS, ALL],
  interval: EXCHANGE_INTERVALS,
  time: ['today', 'yesterday'],
}

/** What a flag takes; no words when nothing is known about it. */
export function flagValues({ name, options, helpValue, delimiter }: FlagEntry): Values {
  const words = options ?? (Object.hasOwn(FLAG_WORDS, name) ? FLAG_WORDS[name] : undefined)
  if (words) return { kind: 'words', words, list: delimiter === ',' }
  const kind = helpValue === 'FILE' ? 'files' : helpValue === 'DIR' ? 'folders' : 'words'
  return { kind, words: [] }
}

/** What an argument takes; no words when nothing is known about it. */
export function argValues({ name, options, multiple }: ArgEntry): Values {
  const known = options ?? (Object.hasOwn(ARG_WORDS, name) ? ARG_WORDS[name] : [])
  const words = multiple ? known : known.filter(word => word !== ALL)
  return { kind: 'words', words, list: multiple === true, ignoreCase: name === 'symbol' }
}
