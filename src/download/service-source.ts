import { compareBatches } from '../klines/compare.js'
import { KlinesError } from '../klines/errors.js'
import type { Interval } from '../klines/intervals.js'
import { SYMBOLS_PATH, startDatesPath, windowPath } from '../klines/paths.js'
import { type Series, type WindowRef, windowName } from '../klines/series.js'
import type { SymbolName } from '../klines/symbols.js'
import { decodeWindow } from '../klines/window-codec.js'
import type { HeldWindow, Mirror } from '../mirror/mirror.js'
import { Failure } from '../service/failure.js'
import { unreachable } from '../service/file-fetcher.js'
import type { Fetched, KlinesService } from '../service/klines-service.js'
import { Keeper, type KeeperOptions } from './keeper.js'
import { withoutStop } from './outcome.js'
import { combine, type Selection, selectedIntervals } from './selection.js'
import type { WindowFailure, WindowResult, WindowSource } from './window-source.js'

/** How a `ServiceSource` treats what it brings. */
export interface ServiceSourceOptions extends KeeperOptions {
  /** Ask again for final windows too, whatever is held. */
  readonly refresh: boolean
  /** The present, ms UTC. */
  readonly now: number
  readonly signal: AbortSignal
}

/**
 * Windows from the service through a mirror: final ones are read, others revalidated, absent and broken ones fetched.
 * Every window is asked for at most once in the life of a source.
 */
export class ServiceSource implements WindowSource {
  readonly offline = false
  readonly advice = 'What was brought stays in the mirror; the same command asks only for the rest.'
  private readonly keeper: Keeper
  private latest: number

  constructor(
    readonly baseUrl: string,
    readonly service: KlinesService,
    private readonly mirror: Mirror,
    private readonly options: ServiceSourceOptions,
  ) {
    this.latest = options.now
    this.keeper = new Keeper(mirror, options)
    this.keeper.open(baseUrl, options.now)
  }

  get mirrorRoot(): string {
    return this.mirror.root
  }

  get traffic(): { requests: number; bytes: number } {
    const { requests, wireBytes } = this.service.fetcher
    return { requests, bytes: wireBytes }
  }

  async series(selection: Selection): Promise<Series[]> {
    const symbols = selection.symbols === 'all' ? await this.symbols() : selection.symbols
    return combine(symbols, selectedIntervals(selection))
  }

  async startDates(interval: Interval): Promise<string[]> {
    const list = await this.list(
      `the list of ${interval} start dates`,
      this.service.startDates(interval, this.options.signal),
    )
    // Its file's time says until when the windows of a mirror were asked for, whenever the list last changed.
    this.keep(startDatesPath(interval), { ...list, mtimeMs: list.servedMs })
    return list.value
  }

  /** The present: this machine's clock, or the service's where that is ahead (a clock may be years behind). */
  horizon(): number {
    return this.latest
  }

  holds(): boolean {
    return true
  }

  threeDayAnchor(symbol: SymbolName): number | undefined {
    return this.mirror.firstOpenTime({ symbol, interval: '3d' })
  }

  peek(window: WindowRef): 'held' | 'stale' | 'absent' {
    const held = this.mirror.readWindow(window)
    if (held === undefined || held instanceof KlinesError) return 'absent'
    return held.final && !this.options.refresh ? 'held' : 'stale'
  }

  async window(window: WindowRef): Promise<WindowResult | WindowFailure> {
    const path = windowPath(window)
    const remembered = this.keeper.remembered(path)
    if (remembered) return { window, how: 'held', batch: decodeWindow(remembered, window) }
    const held = this.held(window)
    if (held && (this.keeper.isSettled(path) || (held.final && !this.options.refresh))) {
      this.keeper.settle(path)
      return { window, how: 'held', batch: held.batch }
    }
    try {
      return await this.bring(window, held)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      return { window, how: 'failed', reason: withoutName(error.message, window) }
    }
  }

  /**
   * Asks the service for a window, whatever is settled, and stores what is new. `held`: what the mirror has of it, if that
   * is worth anything. Throws a `Failure` too.
   */
  async bring(window: WindowRef, held: HeldWindow | undefined): Promise<WindowResult> {
    const since = this.options.refresh ? undefined : held?.mtimeMs
    const fetched = await this.service.window(window, since, this.options.signal)
    return this.settle(window, held, fetched)
  }

  async settledWindow(window: WindowRef): Promise<WindowResult | WindowFailure> {
    const inMemory = this.keeper.remembered(windowPath(window)) !== undefined
    const batch = inMemory ? undefined : this.mirror.readBriefly(window)
    return batch && !(batch instanceof KlinesError) ? { window, how: 'held', batch } : this.window(window)
  }

  close(): Promise<void> {
    return this.service.fetcher.close()
  }

  /** What the mirror has of a window; a broken file is warned of and counts as absent. */
  held(window: WindowRef): HeldWindow | undefined {
    const held = this.mirror.readWindow(window)
    if (!(held instanceof KlinesError)) return held
    this.options.warn(`Broken in the mirror, fetched again: ${withoutStop(held.message)}.`)
    return undefined
  }

  private settle(
    window: WindowRef,
    held: HeldWindow | undefined,
    fetched: Fetched<WindowResult['batch']> | 'unmodified',
  ): WindowResult {
    const path = windowPath(window)
    if (fetched === 'unmodified') {
      if (!held) throw new Failure('garbled', 'status 304 for a window that is not held')
      this.keeper.settle(path)
      return { window, how: 'unmodified', batch: held.batch }
    }
    const change = held && compareBatches(held.batch, fetched.value)
    if (held && change && change.lost.length > 0) {
      const lost = change.lost.length === 1 ? '1 candle that is' : `${change.lost.length} candles that are`
      this.options.warn(`${windowName(window)}: the service's new version lacks ${lost} held; the held one is kept.`)
      this.keeper.settle(path)
      return { window, how: 'kept', batch: held.batch }
    }
    this.keep(path, fetched)
    return { window, how: 'fetched', batch: fetched.value, change }
  }

  private keep(path: string, { bytes, mtimeMs, servedMs }: Fetched<unknown>): void {
    this.latest = Math.max(this.latest, servedMs)
    this.keeper.keep(path, bytes, mtimeMs)
  }

  /** The service's symbols that this version knows. */
  async symbols(): Promise<readonly SymbolName[]> {
    const list = await this.list('the list of symbols', this.service.symbols(this.options.signal))
    const { symbols, unknown } = list.value
    if (unknown.length > 0) this.options.warn(`Symbols this version does not know are left out: ${unknown.join(', ')}.`)
    if (symbols.length === 0)
      throw new KlinesError('bad_list', 'The list of symbols is refused: it has none that this version knows.', {
        data: { baseUrl: this.baseUrl },
      })
    this.keep(SYMBOLS_PATH, list)
    return symbols
  }

  /** Without its lists a service is as good as not there. A list that is there and wrong is another matter. */
  private async list<T>(what: string, request: Promise<T>): Promise<T> {
    try {
      return await request
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      const refused = error.cause instanceof KlinesError && !error.notJson
      if (refused)
        throw new KlinesError('bad_list', error.message, {
          cause: error,
          data: { baseUrl: this.baseUrl },
        })
      throw unreachable(this.baseUrl, `${what}: ${error.message}`, error)
    }
  }
}

/** A codec's message begins with the window's name, which the report of a failed window says anyway. */
export function withoutName(message: string, window: WindowRef): string {
  const name = `${windowName(window)}: `
  return message.startsWith(name) ? message.slice(name.length) : message
}
