import { isKlinesError } from '../../klines/errors.js'
import type { WindowRef } from '../../klines/series.js'
import { type SymbolName, sortSymbols } from '../../klines/symbols.js'
import type { Mirror } from '../../mirror/mirror.js'
import type { CacheWriter } from './cache-writer.js'
import { completeTree, findTreeGaps } from './tree-gaps.js'

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
