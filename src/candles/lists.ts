import { type BodyFault, KlinesError } from './errors.js'
import { type Interval, isMinutes } from './intervals.js'
import { decodeUtf8 } from './json.js'
import { isSymbol, type SymbolName } from './symbols.js'
import { showValue } from './text.js'
import { consecutiveStartDates, firstStartDate, isStartDate, parseDate, windowLength } from './windows.js'

/**
 * Parses a list of startDates: dates on which a window of the interval can start, ascending. Throws `bad_list` on anything
 * else, because dates become paths.
 */
export function parseStartDates(bytes: Uint8Array, interval: Interval): string[] {
  const name = `The list of ${interval} start dates`
  const list = parseList(bytes, name)
  let previous = ''
  for (const [index, date] of list.entries()) {
    if (typeof date !== 'string' || !isStartDate(interval, date) || date <= previous) {
      const expected = `a later day than the one before, on which a window of ${windowLength(interval)} starts`
      throw badList(`${name} is refused: entry ${index} is ${showValue(date)}. Expected ${expected}.`)
    }
    previous = date
  }
  return list as string[]
}

/**
 * The startDates that a list lacks, ascending: windows follow each other without a hole from its first entry to its last
 * one, and at least to the present (`now`, ms UTC); those that are `known`, of an earlier list or of cached windows, are
 * listed. A list of 1m, 3m or 5m ends with the day on which it was made.
 */
export function findMissingStartDates(
  list: readonly string[],
  interval: Interval,
  { known, now }: { readonly known: Iterable<string>; readonly now: number },
): string[] {
  const [first = firstStartDate(interval)] = list
  const lastListed = list.length === 0 ? now : parseDate(list[list.length - 1])
  const last = isMinutes(interval) ? lastListed : Math.max(now, lastListed)
  const expected = new Set([...consecutiveStartDates(interval, first, last), ...known])
  for (const startDate of list) expected.delete(startDate)
  return [...expected].sort()
}

/** Parses a list of symbols, in its order. Throws `bad_list`. */
export function parseSymbols(bytes: Uint8Array): SymbolName[] {
  return parseList(bytes, 'The list of symbols').map((name, index) => {
    if (isSymbol(name)) return name
    throw badList(`The list of symbols is refused: entry ${index} is ${showValue(name)}, not a symbol.`)
  })
}

/** Parses a JSON array of anything. `name`: of the list, for the error. Throws `bad_list`. */
export function parseList(bytes: Uint8Array, name: string): unknown[] {
  let list: unknown
  try {
    list = JSON.parse(decodeUtf8(bytes))
  } catch (cause) {
    throw badList(`${name} is refused: it is not JSON.`, 'not_json', cause)
  }
  if (Array.isArray(list)) return list
  throw badList(`${name} is refused: it is not an array.`)
}

function badList(message: string, kind: BodyFault = 'shape', cause?: unknown): KlinesError {
  return new KlinesError('bad_list', message, { cause, data: { kind } })
}
