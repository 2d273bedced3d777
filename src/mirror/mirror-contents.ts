import type { FileRead } from '../fs/read-file.js'
import { SAMPLE_ROOT } from '../http/transport/sample-files.js'
import { isKlinesError, KlinesError } from '../klines/errors.js'
import { EXCHANGE_INTERVALS, type Interval } from '../klines/intervals.js'
import { parseStartDates, parseSymbols } from '../klines/lists.js'
import { intervalPath, SYMBOLS_PATH, seriesPath, startDatesPath, windowPath } from '../klines/paths.js'
import { type Series, windowOf } from '../klines/series.js'
import { isSymbol, type SymbolName, sortSymbols } from '../klines/symbols.js'
import { isStartDate } from '../klines/windows.js'
import type { TreeRules } from '../trees/tree-rules.js'
import type { MirrorFiles } from './mirror-files.js'
import type { MirrorRecord } from './record.js'

/** An empty window is `[]`; a larger file has rows or is corrupt. */
export const EMPTY_WINDOW_BYTES = 2

const SUFFIX = '.json'

/** What a mirror has and lists: symbols, intervals, series and the startDates of their windows. All methods throw `mirror_unusable`. */
export class MirrorContents {
  /** `mirror`: whose rules are known once its source is. */
  constructor(
    private readonly files: MirrorFiles,
    private readonly record: MirrorRecord,
    private readonly mirror: { readonly rules: TreeRules },
  ) {}

  /** Whether any window of a series is cached, valid or not. */
  hasSeries(series: Series): boolean {
    return this.files.hasName(seriesPath(series), name => isWindowFile(series, name))
  }

  /** Whether a window of a series is cached, or the record knows candles of it. */
  hadSeries(series: Series): boolean {
    return this.hasSeries(series) || this.record.seriesCandles(series) !== undefined
  }

  /** The startDates of a series' cached windows, valid or not, ascending. */
  startDates(series: Series): string[] {
    const names = this.files.names(seriesPath(series)).filter(name => isWindowFile(series, name))
    return names.map(name => name.slice(0, -SUFFIX.length))
  }

  /** The startDate of the first cached window of a series that has candles, by file size. */
  firstPopulated(series: Series): string | undefined {
    return this.startDates(series).find(startDate => this.isPopulated(series, startDate))
  }

  /** The startDate of the last such window. */
  lastPopulated(series: Series): string | undefined {
    return this.startDates(series).findLast(startDate => this.isPopulated(series, startDate))
  }

  private isPopulated(series: Series, startDate: string): boolean {
    return this.files.size(windowPath(windowOf(series, startDate))) > EMPTY_WINDOW_BYTES
  }

  /** Whether a window of a series is empty when it has no file: the bundled sample has files of windows with candles alone. */
  missingMeansEmpty(series: Series): boolean {
    return this.files.root === SAMPLE_ROOT && this.hasSeries(series)
  }

  /** The symbols with a cached window, valid or not: the ten of the public service first, then the others by name. */
  symbols(): SymbolName[] {
    const found = new Set<SymbolName>()
    for (const interval of EXCHANGE_INTERVALS) {
      for (const symbol of this.symbolFolders(interval)) {
        if (!found.has(symbol) && this.hasSeries({ symbol, interval })) found.add(symbol)
      }
    }
    return sortSymbols(found)
  }

  /** The symbols that may have cached windows of an interval: those with a folder, which may be empty. */
  symbolFolders(interval: Interval): SymbolName[] {
    return this.files.names(intervalPath(interval)).filter(isSymbol)
  }

  /** The symbols of the mirror's list; none when the list is missing or corrupt. */
  listedSymbols(): SymbolName[] {
    const file = this.files.read(SYMBOLS_PATH)
    if (file.state !== 'file') return []
    try {
      return parseSymbols(file.bytes)
    } catch (error) {
      if (isKlinesError(error, 'bad_list')) return []
      throw error
    }
  }

  /** Whether the source has a symbol, as far as the mirror knows. */
  hasSymbol(symbol: SymbolName): boolean {
    if (this.mirror.rules.symbols.includes(symbol)) return true
    return (
      this.listedSymbols().includes(symbol) || EXCHANGE_INTERVALS.some(interval => this.hasSeries({ symbol, interval }))
    )
  }

  /** The intervals that the mirror may have: those of its source, and others of which it has a list or a window. */
  intervals(): Interval[] {
    const isThere = (interval: Interval) =>
      this.files.version(startDatesPath(interval)) !== undefined ||
      this.symbolFolders(interval).some(symbol => this.hasSeries({ symbol, interval }))
    const { intervals } = this.mirror.rules
    return EXCHANGE_INTERVALS.filter(interval => intervals.includes(interval) || isThere(interval))
  }

  /** The file with the list of startDates, not parsed. */
  startDatesFile(interval: Interval): FileRead {
    return this.files.read(startDatesPath(interval))
  }

  /** The startDates of that list; undefined without one. Throws `bad_list` for a corrupt one. */
  listedStartDates(interval: Interval): string[] | undefined {
    const file = this.startDatesFile(interval)
    if (file.state === 'missing') return undefined
    if (file.state === 'file') return parseStartDates(file.bytes, interval)
    throw new KlinesError('bad_list', `The list of ${interval} start dates is ${file.reason}.`)
  }
}

function isWindowFile({ interval }: Series, name: string): boolean {
  return name.endsWith(SUFFIX) && isStartDate(interval, name.slice(0, -SUFFIX.length))
}
