import pMap from 'p-map'
import { incomplete } from '../../download/errors.js'
import type { Plan } from '../../download/plan.js'
import { combine, type Selection, selectedIntervals, selectSymbols } from '../../download/selection.js'
import { findThreeDayAnchor } from '../../download/sources/service-contents.js'
import type { SourceContents, WindowFailure, WindowResult } from '../../download/sources/window-source.js'
import type { Interval } from '../../klines/intervals.js'
import { findMissingStartDates, parseStartDates } from '../../klines/lists.js'
import { startDatesPath, windowPath } from '../../klines/paths.js'
import type { Series, WindowRef } from '../../klines/series.js'
import type { SymbolName } from '../../klines/symbols.js'
import { trimPeriod } from '../../klines/text.js'
import type { TimeRange } from '../../klines/time-range.js'
import type { Mirror } from '../../mirror/mirror.js'
import { HttpError } from '../http/error.js'
import type { Tree } from '../tree/tree.js'
import { toExportError } from './errors.js'

/** Windows that are fetched at the same time; the service's own limits hold too. */
const FETCHES_AT_ONCE = 16
/** After so many windows in a row that the service failed to send, no further one is requested. */
const MAX_FAILURES = 3
const ADVICE = 'The mirror keeps what was downloaded; try again later.'

/** Fetches for one export what is missing or can still change, as a request for each of these windows would. */
export class UpstreamFetches {
  /** The failures in a row, of which the last one decides the status. */
  private failed: HttpError[] = []

  /** `warning`: why something may not be current, because revalidating it failed. */
  constructor(
    private readonly mirror: Mirror,
    private readonly tree: Tree,
    public warning: HttpError | undefined,
  ) {}

  /**
   * Fetches the windows of a plan that are missing, corrupt or not final. Throws `HttpError`: 503 when the service limits
   * requests; else with the windows that could not be fetched, 504 when the service did not answer in time, 409 when it lacks
   * them all, 502 for other failures.
   */
  async refresh({ series }: Plan, signal: AbortSignal): Promise<void> {
    const windows = series.flatMap(({ windows }) => windows)
    const failures: WindowFailure[] = []
    const statuses = new Set<number>()
    const fetch = async (window: WindowRef) => {
      const error = await this.fetch(window)
      if (!error) return
      failures.push({ window, status: 'failed', reason: trimPeriod(error.message) })
      statuses.add(error.statusCode)
    }
    await pMap(windows, fetch, { concurrency: FETCHES_AT_ONCE, signal })
    if (failures.length === 0) return
    failures.sort((a, b) => windows.indexOf(a.window) - windows.indexOf(b.window))
    const [first, ...others] = statuses
    const status = others.length > 0 ? 502 : first === 404 ? 409 : first === 504 ? 504 : 502
    throw toExportError(incomplete(failures, windows.length, { advice: ADVICE, offline: false }, true), { status })
  }

  /** Fetches a window unless it is final. Returns why there is no valid one then. Throws `HttpError` 503. */
  async fetch(window: WindowRef): Promise<HttpError | undefined> {
    const path = windowPath(window)
    const cached = this.mirror.windows.read(window)
    if (cached.state === 'cached' && cached.final) return undefined
    const gaveUp = this.failed.length >= MAX_FAILURES ? this.failed.at(-1) : undefined
    if (gaveUp) {
      this.warning ??= gaveUp
      return cached.state === 'cached' || this.tree.memory?.get(path) ? undefined : gaveUp
    }
    try {
      const { warning } = await this.tree.file(path)
      this.warning ??= warning
      this.failed = warning ? [...this.failed, warning] : []
      return undefined
    } catch (error) {
      if (!(error instanceof HttpError) || error.statusCode === 503) throw error
      this.failed = error.statusCode === 404 ? [] : [...this.failed, error]
      return error
    }
  }
}

/** What the service behind a server has. The symbols are checked before: it may have what the mirror lacks. */
export class UpstreamContents implements SourceContents {
  constructor(
    private readonly mirror: Mirror,
    private readonly tree: Tree,
    private readonly fetches: UpstreamFetches,
    /** The present, ms UTC. */
    private readonly now: number,
    private readonly read: (window: WindowRef) => Promise<WindowResult | WindowFailure>,
  ) {}

  async currentTime(): Promise<number> {
    return this.now
  }

  async series(selection: Selection): Promise<Series[]> {
    return combine(selectSymbols(selection, []), selectedIntervals(selection))
  }

  hasSeries(): boolean {
    return true
  }

  async startDates(interval: Interval): Promise<string[]> {
    const { body, warning } = await this.tree.file(startDatesPath(interval))
    this.fetches.warning ??= warning
    const list = parseStartDates(body.bytes, interval)
    return [...list, ...findMissingStartDates(list, interval, { known: [], now: this.now })].sort()
  }

  cachedStartDates(series: Series): string[] {
    return this.mirror.contents.startDates(series)
  }

  neededUntil(): number {
    return this.now
  }

  async coveredFrom(_series: Series, { fromTime }: TimeRange): Promise<number> {
    return fromTime
  }

  threeDayAnchor(symbol: SymbolName): Promise<number | undefined> {
    return findThreeDayAnchor(this, { mirror: this.mirror, rules: this.mirror.rules }, symbol, async window => {
      await this.fetches.fetch(window)
      return this.read(window)
    })
  }
}
