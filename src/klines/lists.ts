import { KlinesError } from './errors.js'
import { quoteText } from './escape.js'
import type { Interval } from './intervals.js'
import { isSymbol, SYMBOLS, type SymbolName } from './symbols.js'
import { isWindowStart, parseDate, windowLength } from './windows.js'

/** Longest list that is believed; the longest of the service has 783 entries. */
const MAX_ENTRIES = 20_000
const MAX_SYMBOLS = 1_000
/** Longest list that is looked into: parsing sixteen megabytes of `[],` would take hundreds more. */
const MAX_BYTES = 4 * 1024 * 1024

/**
 * The startDates of an interval (service.md, endpoint 2) out of the list's bytes: real dates that are window starts of
 * the interval, ascending, without repetition. Throws `bad_list` with the entry: dates become paths, so nothing else passes.
 */
export function parseStartDates(bytes: Uint8Array, interval: Interval): string[] {
  const list = parseList(bytes, `The list of ${interval} start dates`, MAX_ENTRIES)
  let previous = ''
  for (const [index, date] of list.entries()) {
    const fault = findDateFault(date, previous, interval)
    if (fault) throw badList(`The list of ${interval} start dates is refused: entry ${index} ${fault}.`)
    previous = date
  }
  return list
}

/** The symbols (service.md, endpoint 1) out of the list's bytes; names this version does not know come apart. */
export function parseSymbols(bytes: Uint8Array): {
  symbols: SymbolName[]
  unknown: string[]
} {
  const list = parseList(bytes, 'The list of symbols', MAX_SYMBOLS)
  const odd = list.findIndex(name => !/^[A-Z0-9]{2,20}$/.test(name))
  if (odd !== -1) throw badList(`The list of symbols is refused: entry ${odd} is ${show(list[odd])}, not a symbol.`)
  const names = new Set(list)
  return {
    symbols: SYMBOLS.filter(name => names.has(name)),
    unknown: list.filter(name => !isSymbol(name)),
  }
}

function parseList(bytes: Uint8Array, what: string, most: number): string[] {
  if (bytes.length > MAX_BYTES)
    throw badList(`${what} is refused: ${bytes.length} bytes, expected at most ${MAX_BYTES}.`)
  let list: unknown
  try {
    list = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw badList(`${what} is refused: it is not JSON.`, 'not_json', cause)
  }
  if (!Array.isArray(list)) throw badList(`${what} is refused: it is not an array.`)
  if (list.length > most) throw badList(`${what} is refused: ${list.length} entries, expected at most ${most}.`)
  const odd = list.findIndex(entry => typeof entry !== 'string')
  if (odd !== -1) throw badList(`${what} is refused: entry ${odd} is not a string.`)
  return list
}

function findDateFault(date: string, previous: string, interval: Interval): string | undefined {
  let time: number
  try {
    time = parseDate(date)
  } catch {
    return `is ${show(date)}, not a date`
  }
  if (date <= previous) return `is ${date}, which does not come after ${previous}`
  if (!isWindowStart(interval, time)) return `is ${date}, where no window of ${windowLength(interval)} starts`
  return undefined
}

function badList(message: string, kind = 'shape', cause?: unknown): KlinesError {
  return new KlinesError('bad_list', message, { cause, data: { kind } })
}

function show(text: string): string {
  return quoteText(text.length > 40 ? `${text.slice(0, 40)}...` : text)
}
