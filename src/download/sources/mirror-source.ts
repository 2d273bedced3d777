import { toSourceName } from '../../http/base-url.js'
import { decodeWindow } from '../../klines/batch/window-codec.js'
import { KlinesError } from '../../klines/errors.js'
import { type Series, seriesName, type WindowRef } from '../../klines/series.js'
import { trimPeriod } from '../../klines/text.js'
import type { Mirror } from '../../mirror/mirror.js'
import type { NoWindow, WindowRows } from '../../mirror/mirror-windows.js'
import type { Selection } from '../selection.js'
import { findFirst, findNewest } from '../series-ends.js'
import { type MirrorContentsOptions, MirrorSourceContents } from './mirror-source-contents.js'
import type { SourceCosts, SourceInfo, WindowFailure, WindowResult, WindowSource } from './window-source.js'

/** A window of the bundled sample without a file. */
const EMPTY_WINDOW = new TextEncoder().encode('[]')

/** What a `MirrorSource` is told. */
export interface MirrorSourceOptions extends MirrorContentsOptions {
  /** The base address that the mirror should have; default: any. */
  readonly baseUrl?: string | undefined
}

/** Windows from a mirror alone, without any request. */
export class MirrorSource implements WindowSource {
  readonly info: SourceInfo
  readonly contents: MirrorSourceContents
  readonly costs: SourceCosts = {
    cacheState: window => this.cacheState(window),
    windowCost: () => ({ requests: 0, limitMs: 0 }),
    limitsMs: () => new Map(),
  }

  /** Throws `mirror_mismatch` when the mirror belongs to another base address. */
  constructor(
    private readonly mirror: Mirror,
    { baseUrl, ...options }: MirrorSourceOptions,
  ) {
    if (baseUrl !== undefined) mirror.upkeep.checkBase(toSourceName(baseUrl))
    this.contents = new MirrorSourceContents(mirror, options)
    this.info = {
      baseUrl: mirror.upkeep.readMeta(options.warn)?.baseUrl,
      offline: true,
      mirrorRoot: mirror.root,
      isStored: true,
      traffic: { requests: 0, bytes: 0 },
      first: series => findFirst(mirror, series),
      newest: series => findNewest(mirror, series),
      advice: 'Download them with klines download, or choose a range that the mirror has with `from` and `to`.',
    }
  }

  /** The series of a selection. Throws `window_missing` when one that is named is not cached. */
  async cachedSeries(selection: Selection): Promise<Series[]> {
    const series = await this.contents.series(selection)
    // `all` and patterns stand for what is cached.
    const missing = series.filter(name => !this.contents.hasSeries(name))
    if (missing.length === 0) return series
    throw new KlinesError('window_missing', `Not in the mirror: ${missing.map(seriesName).join(', ')}.`, {
      suggestions: [this.info.advice],
    })
  }

  async window(window: WindowRef): Promise<WindowResult | WindowFailure> {
    return this.result(window, this.mirror.windows.readRows(window))
  }

  async cachedWindow(window: WindowRef): Promise<WindowResult | WindowFailure> {
    return this.result(window, this.mirror.windows.readInPlace(window))
  }

  statusWithoutReading(): 'cached' {
    return 'cached'
  }

  hasAllCandles(window: WindowRef): boolean {
    return this.mirror.windows.hasAllCandles(window)
  }

  async close(): Promise<void> {}

  private cacheState(window: WindowRef): 'cached' | 'missing' {
    const { state } = this.mirror.windows.readRows(window)
    const isEmpty = state === 'missing' && this.contents.isEmptyWithoutFile(window)
    return state === 'cached' || isEmpty ? 'cached' : 'missing'
  }

  private result(window: WindowRef, read: WindowRows | NoWindow): WindowResult | WindowFailure {
    if (read.state === 'cached') return { window, status: 'cached', batch: read.batch, size: read.size, file: read }
    if (read.state === 'corrupt') {
      return { window, status: 'failed', reason: `corrupt in the mirror: ${trimPeriod(read.error.message)}` }
    }
    if (!this.contents.isEmptyWithoutFile(window)) return { window, status: 'failed', reason: 'not in the mirror' }
    return { window, status: 'cached', batch: decodeWindow(EMPTY_WINDOW, window), size: 0 }
  }
}
