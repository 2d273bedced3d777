import { setImmediate as nextTurn } from 'node:timers/promises'
import { isKlinesError } from '../../klines/errors.js'
import { EXCHANGE_INTERVALS, type Interval } from '../../klines/intervals.js'
import { SYMBOLS_PATH, startDatesPath, windowPath } from '../../klines/paths.js'
import type { WindowRef } from '../../klines/series.js'
import { type SymbolName, sortSymbols } from '../../klines/symbols.js'
import { windowSpan } from '../../klines/windows.js'
import type { Mirror } from '../../mirror/mirror.js'
import type { CacheWriter } from './cache-writer.js'

const EMPTY_WINDOW = Buffer.from('[]')
/** How many windows are looked at before the signal is checked again. */
const WINDOWS_PER_TURN = 256

/** What a mirror needs to become a complete tree. */
interface TreeGaps {
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
interface GapSearchOptions {
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

/**
 * Keeps `complete` in `mirror.json` true only as long as it is: it becomes false before the first file that may leave a hole,
 * and true again when the source closes without one. A run that is killed in between leaves it false.
 */
export class Completeness {
  private wasCleared = false
  /** The symbols of requested windows: one that got none is missing too. */
  private readonly symbols = new Set<SymbolName>()

  constructor(
    private readonly mirror: Mirror,
    private readonly cacheWriter: CacheWriter,
  ) {}

  /**
   * To be called before a window is requested. `isValid`: whether a valid version of it is cached; a folder in its place is removed
   * before the file comes. `now`: the present, ms UTC.
   */
  beforeWindow(window: WindowRef, isValid: boolean, now: number): void {
    this.symbols.add(window.symbol)
    if (!isValid || this.mirror.windows.state(window, now) !== 'cached') this.clear(now)
  }

  /** To be called before a list is stored: another one may name windows that the mirror lacks. */
  beforeList(path: string, bytes: Buffer, now: number): void {
    const file = this.mirror.files.read(path)
    if (file.state !== 'file' || !file.bytes.equals(bytes)) this.clear(now)
  }

  /** To be called when no request is under way any more. Never fails: a mirror that is not complete has no hole either. */
  async restore(now: number): Promise<void> {
    if (!this.wasCleared) return
    this.wasCleared = false
    try {
      const symbols = sortSymbols([
        ...this.mirror.contents.symbols(),
        ...this.mirror.contents.listedSymbols(),
        ...this.symbols,
      ])
      const gaps = await findTreeGaps(this.mirror, { symbols, now })
      if (gaps.missing.length + gaps.outdated.length > 0) return
      this.cacheWriter.change(() => completeTree(this.mirror, gaps, gaps.future, now))
    } catch (error) {
      if (!isKlinesError(error)) throw error
    }
  }

  private clear(now: number): void {
    // Another process may have completed the mirror meanwhile, so the file is read each time.
    if (!this.mirror.upkeep.readMeta()?.complete) return
    const isCleared = this.cacheWriter.change(() => this.mirror.upkeep.setComplete(false, now))
    this.wasCleared ||= isCleared
  }
}
