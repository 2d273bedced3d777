import { setImmediate as nextTurn } from 'node:timers/promises'
import { EXCHANGE_INTERVALS, type Interval } from '../../klines/intervals.js'
import { SYMBOLS_PATH, startDatesPath, windowPath } from '../../klines/paths.js'
import type { WindowRef } from '../../klines/series.js'
import type { SymbolName } from '../../klines/symbols.js'
import { windowSpan } from '../../klines/windows.js'
import type { Mirror } from '../../mirror/mirror.js'

const EMPTY_WINDOW = Buffer.from('[]')
/** How many windows are looked at before the signal is checked again. */
const WINDOWS_PER_TURN = 256

/** What a mirror needs to become a complete tree. */
export interface TreeGaps {
  readonly symbols: readonly SymbolName[]
  /** The start dates of each interval of which the mirror has a window or a list. */
  readonly lists: ReadonlyMap<Interval, readonly string[]>
  /** Number of windows: those of every symbol and list, and other cached ones. */
  readonly windows: number
  /** Windows without a file that start in the future, so that they are empty. */
  readonly future: readonly WindowRef[]
  /** Windows without a file that have started. */
  readonly missing: readonly WindowRef[]
  /** Empty windows that were stored before they began, and have begun since. */
  readonly outdated: readonly WindowRef[]
}

/** How the gaps of a mirror are found. */
export interface GapSearchOptions {
  /** The symbols that should have every window. */
  readonly symbols: readonly SymbolName[]
  /** The present, ms UTC. */
  readonly now: number
  readonly signal?: AbortSignal | undefined
  /** Called with each window. */
  readonly visit?: (window: WindowRef, done: number, total: number) => void
}

/**
 * Looks for the file of every window of the symbols, at each interval of which the mirror has a window or a list. Reads no
 * window itself. Throws `bad_list` for a corrupt list, and `mirror_unusable`.
 */
export async function findTreeGaps(mirror: Mirror, options: GapSearchOptions): Promise<TreeGaps> {
  const { symbols, now, signal, visit } = options
  const lists = readLists(mirror, now)
  const windows = [...lists].flatMap(([interval, list]) =>
    symbols.flatMap(symbol => {
      const dates = new Set([...list, ...mirror.contents.startDates({ symbol, interval })])
      return [...dates].sort().map(startDate => ({ symbol, interval, startDate }))
    }),
  )
  const [future, missing, outdated]: WindowRef[][] = [[], [], []]
  for (const [index, window] of windows.entries()) {
    if (index % WINDOWS_PER_TURN === 0) {
      await nextTurn()
      signal?.throwIfAborted()
    }
    visit?.(window, index + 1, windows.length)
    const state = mirror.windows.state(window, now)
    if (state === 'outdated') outdated.push(window)
    else if (state === 'missing') (windowSpan(window).startTime > now ? future : missing).push(window)
  }
  return { symbols, lists, windows: windows.length, future, missing, outdated }
}

/**
 * Writes what makes a tree complete, and says so at last in `mirror.json`: empty windows, missing lists and the list of symbols.
 * Returns the number of lists written. Throws `mirror_unusable`.
 */
export function completeTree(
  mirror: Mirror,
  { symbols, lists }: Pick<TreeGaps, 'symbols' | 'lists'>,
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
  mirror.upkeep.setComplete(true, now)
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
