import { EXCHANGE_INTERVALS, type Interval } from '../../klines/intervals.js'
import { SYMBOLS_PATH, startDatesPath, windowPath } from '../../klines/paths.js'
import type { WindowRef } from '../../klines/series.js'
import type { SymbolName } from '../../klines/symbols.js'
import type { Mirror } from '../../mirror/mirror.js'

export const EMPTY_WINDOW = Buffer.from('[]')

/** What a complete tree of a mirror has. */
export interface TreeContents {
  readonly symbols: readonly SymbolName[]
  /** The start dates of each interval of which the mirror has a window or a list. */
  readonly lists: ReadonlyMap<Interval, readonly string[]>
  /** Those of every symbol and list, and other cached ones: series by series, ascending. */
  readonly windows: readonly WindowRef[]
}

/** Throws `bad_list` for a corrupt list, and `mirror_unusable`. */
export function listTree(mirror: Mirror, symbols: readonly SymbolName[], now: number): TreeContents {
  const lists = readLists(mirror, now)
  const windows = [...lists].flatMap(([interval, list]) =>
    symbols.flatMap(symbol => {
      const dates = new Set([...list, ...mirror.contents.startDates({ symbol, interval })])
      return [...dates].sort().map(startDate => ({ symbol, interval, startDate }))
    }),
  )
  return { symbols, lists, windows }
}

/** Writes empty windows, missing lists and the list of symbols. Returns the number of lists written. Throws `mirror_unusable`. */
export function completeTree(
  mirror: Mirror,
  { symbols, lists }: Pick<TreeContents, 'symbols' | 'lists'>,
  empty: readonly WindowRef[],
  now: number,
): number {
  for (const window of empty) mirror.files.write(windowPath(window), EMPTY_WINDOW, now)
  let written = 0
  const write = (path: string, bytes: Buffer) => {
    mirror.files.write(path, bytes, now)
    written++
  }
  // Lists come after the windows that they name.
  for (const [interval, list] of lists) {
    if (mirror.contents.startDatesFile(interval).state === 'missing')
      write(startDatesPath(interval), Buffer.from(JSON.stringify(list)))
  }
  const names = Buffer.from(JSON.stringify(symbols))
  const file = mirror.files.read(SYMBOLS_PATH)
  if (file.state !== 'file' || !file.bytes.equals(names)) write(SYMBOLS_PATH, names)
  return written
}

function readLists(mirror: Mirror, now: number): Map<Interval, string[]> {
  const symbols = mirror.contents.symbols()
  const lists = new Map<Interval, string[]>()
  for (const interval of EXCHANGE_INTERVALS) {
    const list = mirror.contents.listedStartDates(interval)
    const isUsed = list !== undefined || symbols.some(symbol => mirror.contents.hasSeries({ symbol, interval }))
    if (isUsed) lists.set(interval, list ?? mirror.rules.startDates(interval, now))
  }
  return lists
}
