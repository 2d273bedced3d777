import { GapCounter, type SeriesTotals } from '../klines/audit/gap-counter.js'
import type { ChangedCell, WindowChange } from '../klines/batch/diff.js'
import { type Series, seriesName, type WindowRef } from '../klines/series.js'
import type { TimeRange } from '../klines/time-range.js'
import { incomplete, noCandles } from './errors.js'
import type { Plan } from './plan.js'
import type { WindowFailure, WindowResult, WindowSource, WindowStatus } from './window-source.js'

/** Changed values that a report lists of a series; all are counted. */
const MAX_CHANGES = 1_000

/** How many windows of a series were had in which way. */
export type WindowCounts = Record<WindowStatus | 'failed', number> & { total: number }

/** What became of one series. */
export interface SeriesReport extends Series, SeriesTotals {
  readonly windows: WindowCounts
  /** Candles of windows held before whose values the service has changed since. */
  readonly restated: number
  /** Their values before and after: the first 1,000. */
  readonly changes: readonly ChangedCell[]
}

/** What a run did. */
export interface DownloadReport {
  /** Base address the candles come from; undefined for a bare tree. */
  readonly baseUrl: string | undefined
  readonly mirror: string
  readonly range: TimeRange
  readonly series: SeriesReport[]
  /** Requests made, lists and retries included. */
  readonly requests: number
  /** Bytes of bodies as they came over the wire. */
  readonly bytes: number
}

/** Told as windows come: how many of how many, which and how, and the bytes that came over the wire so far. */
export type Progress = (state: {
  readonly done: number
  readonly total: number
  readonly window: WindowRef
  readonly status: WindowStatus | 'failed'
  readonly bytes: number
  /** How a fetched window differs from the one held before. */
  readonly change: WindowChange | undefined
}) => void

/** What has become of one series so far. */
interface Slot {
  readonly tally: GapCounter
  readonly windows: WindowCounts
  readonly changes: ChangedCell[]
  restated: number
}

/** Keeps account of the windows of a plan as they are had. */
export class DownloadTally {
  private readonly slots: Slot[]
  private readonly places: ReadonlyMap<string, Slot>
  private readonly total: number
  private readonly failures: WindowFailure[] = []
  private done = 0

  constructor(
    private readonly source: WindowSource,
    private readonly plan: Plan,
    private readonly progress: Progress = () => {},
  ) {
    this.slots = plan.series.map(({ series, windows }) => ({
      tally: new GapCounter(series),
      windows: noWindows(windows.length),
      restated: 0,
      changes: [],
    }))
    this.places = new Map(plan.series.map(({ series }, index) => [seriesName(series), this.slots[index]]))
    this.total = plan.series.reduce((sum, { windows }) => sum + windows.length, 0)
  }

  /** A window was had, or not. Those of a series come in order of time. */
  take(result: WindowResult | WindowFailure): void {
    const { fromTime = Number.NEGATIVE_INFINITY, toTime = Number.POSITIVE_INFINITY } = this.plan.range
    const slot = this.places.get(seriesName(result.window)) as Slot
    slot.windows[result.status]++
    if (result.status === 'failed') this.failures.push(result)
    else {
      slot.tally.add(result.batch.slice(fromTime, toTime))
      const { changed = [] } = result.change ?? {}
      slot.restated += new Set(changed.map(({ openTime }) => openTime)).size
      slot.changes.push(...changed.slice(0, MAX_CHANGES - slot.changes.length))
    }
    this.progress({
      done: ++this.done,
      total: this.total,
      window: result.window,
      status: result.status,
      bytes: this.source.traffic.bytes,
      change: result.status === 'failed' ? undefined : result.change,
    })
  }

  /** The account when all windows have been taken. Throws `incomplete` or `no_candles`. */
  report(): DownloadReport {
    const { source, plan, failures } = this
    if (failures.length > 0) throw incomplete(failures, this.total, source.advice)
    const series = this.slots.map(({ tally, ...rest }) => ({ ...tally.series, ...tally.totals, ...rest }))
    if (series.every(({ rows }) => rows === 0)) throw noCandles(plan)
    return { baseUrl: source.baseUrl, mirror: source.mirrorRoot, range: plan.range, series, ...source.traffic }
  }
}

function noWindows(total: number): WindowCounts {
  return { total, cached: 0, fetched: 0, revalidated: 0, retained: 0, failed: 0 }
}
