import { dirname, join } from 'node:path'
import { completeUntil } from '../../download/coverage.js'
import type { KnownTotals } from '../../download/sources/window-source.js'
import type { EncodedTask } from '../../export/encode.js'
import type { PlannedSeries } from '../../export/export-series.js'
import { type FileContent, fileHasContent, hasSameContent } from '../../export/file-content.js'
import { describeSeries, type SeriesFingerprint } from '../../fingerprint/fingerprint.js'
import { CandleGrid } from '../../klines/resample/candle-grid.js'
import type { WindowRef } from '../../klines/series.js'
import { windowSpan } from '../../klines/windows.js'
import { type LakeManifest, type LakePart, type LakeSeries, packTotals, type WindowContent } from '../manifest.js'
import type { WindowFiles } from './window-files.js'

/** Calendar years, UTC, whose candles may have changed. */
type StaleYears = ReadonlySet<number> | 'all'

/** How a series is compared with the manifest. */
interface StateOptions {
  /** Whether it gets a fingerprint. */
  readonly fingerprint?: boolean | undefined
  /** Whether the range moves with the present, so that each part may lose or gain rows. */
  readonly moves: boolean
}

/** A series of a request as it is by now, compared with what the manifest says about it. */
export class SeriesState {
  /** Undefined for those that the manifest lacks. */
  private readonly windows: readonly (WindowContent | undefined)[]
  private readonly grid: readonly (number | null)[]
  private readonly partsOnDisk = new Map<string, LakePart>()
  private readonly old: LakeSeries | undefined
  private readonly unchanged: ReadonlySet<string>
  private readonly moves: boolean
  /** The years whose digests are to be computed; undefined where no fingerprint is wanted. */
  readonly years: StaleYears | undefined

  /** `manifest`: of a lake whose parts may stay. */
  constructor(
    root: string,
    readonly planned: PlannedSeries,
    manifest: LakeManifest | undefined,
    private readonly files: WindowFiles,
    { fingerprint = false, moves }: StateOptions,
  ) {
    const { symbol, interval, resampleTo, plan, source } = planned
    const old = manifest?.series.find(entry => entry.symbol === symbol && entry.interval === interval)
    const known = new Map(old?.windows.map(window => [window.startDate, window]))
    this.windows = planned.windows.map(window => files.content(window))
    this.grid = resampleTo ? [resampleTo.anchor ?? null, plan.listedFrom ?? null, ...knownEnd(planned, files)] : []
    for (const part of old?.parts ?? []) {
      if (fileHasContent(join(root, part.path), part)) this.partsOnDisk.set(dirname(part.path), part)
    }
    this.old = old?.source === source.interval && String(old.grid) === String(this.grid) ? old : undefined
    const same = this.windows.filter(window => window && hasSameContent(known.get(window.startDate), window))
    this.unchanged = new Set(this.old ? same.map(window => window?.startDate as string) : [])
    this.moves = moves
    if (fingerprint) this.years = moves ? 'all' : this.findStaleYears()
  }

  /** The part in a folder, if it is on the disk as the manifest says. */
  partOnDisk(folder: string): LakePart | undefined {
    return this.partsOnDisk.get(folder)
  }

  /** The same if it was made of these windows (startDates), and none of them has changed. */
  currentPart(folder: string, windows: readonly string[]): LakePart | undefined {
    const part = this.old && !this.moves ? this.partsOnDisk.get(folder) : undefined
    const isCurrent = String(part?.windows) === String(windows) && windows.every(date => this.unchanged.has(date))
    return isCurrent ? part : undefined
  }

  /** The startDates of the windows whose content is to be found out while they are read. */
  get unknown(): ReadonlySet<string> {
    const unknown = this.planned.windows.filter((_, index) => this.windows[index] === undefined)
    return new Set(unknown.map(({ startDate }) => startDate))
  }

  /** Whether nothing has changed since the manifest was written. */
  get isComplete(): boolean {
    const { old, windows, unchanged, years } = this
    if (this.moves || years === 'all') return false
    if (old?.windows.length !== windows.length || unchanged.size !== windows.length) return false
    return this.partsOnDisk.size === old.parts.length
  }

  /** The parts of the series as the manifest has them. */
  get parts(): readonly LakePart[] {
    return this.old?.parts ?? []
  }

  /** A window that need not be read to count it, if it has not changed since the manifest was written. */
  counted(window: WindowRef): KnownTotals | undefined {
    return this.unchanged.has(window.startDate) ? this.files.counted(window) : undefined
  }

  /** What the manifest will say about the series. `encoded`: what this run has learned about it. */
  describe(parts: readonly LakePart[], encoded?: EncodedTask): LakeSeries {
    const read = encoded?.windows
    const { symbol, interval, source, windows: refs } = this.planned
    const windows = refs.map(({ startDate }, index) => {
      const content = this.windows[index] ?? { startDate, ...(read?.contents.get(startDate) as FileContent) }
      const totals = read?.totals.get(startDate)
      return { ...content, totals: totals ? packTotals(totals) : content.totals }
    })
    const ends = {
      firstOpenTime: Math.min(...parts.map(({ firstOpenTime }) => firstOpenTime)),
      lastOpenTime: Math.max(...parts.map(({ lastOpenTime }) => lastOpenTime)),
    }
    const fingerprint = this.years && updateYears(this.old?.fingerprint, this.years, encoded?.fingerprint, ends)
    return { symbol, interval, source: source.interval, grid: this.grid, windows, parts, fingerprint }
  }

  /** The years of windows that are new, gone or changed; all where any window can change every candle. */
  private findStaleYears(): StaleYears {
    const { old, planned, unchanged } = this
    if (old === undefined || (old.fingerprint === undefined && old.parts.length > 0)) return 'all'
    const { symbol, interval } = planned.source
    const gone = old.windows.map(({ startDate }) => ({ symbol, interval, startDate }))
    const stale = [...planned.windows, ...gone].filter(({ startDate }) => !unchanged.has(startDate))
    return planned.resampleTo && stale.length > 0 ? 'all' : new Set(stale.flatMap(yearsOf))
  }
}

/**
 * Until when the source is known to have no more candles, ms UTC, but at most the end of the last resampled candle, which is
 * complete then. This can change while the content of all windows stays the same. Empty when it is not known.
 */
function knownEnd({ windows, source, resampleTo }: PlannedSeries, files: WindowFiles): number[] {
  const last = windows.findLast(window => files.hasCandles(window))
  if (last === undefined || resampleTo === undefined) return []
  const { endTime } = windowSpan(last)
  const until = completeUntil(files, windows)
  const grid = new CandleGrid(resampleTo, source.symbol)
  return until < endTime ? [] : [Math.min(until, grid.end(grid.start(endTime - 1)))]
}

/** The years in which candles of a window can open. */
export function yearsOf(window: WindowRef): number[] {
  const { startTime, endTime } = windowSpan(window)
  const [first, last] = [startTime, endTime - 1].map(time => new Date(time).getUTCFullYear())
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

/**
 * A fingerprint whose stale years were read again: `found` has their candles. `ends`: open times of the first and the last candle of all.
 */
function updateYears(
  old: SeriesFingerprint | undefined,
  stale: StaleYears,
  found: SeriesFingerprint | undefined,
  ends: Pick<SeriesFingerprint, 'firstOpenTime' | 'lastOpenTime'>,
): SeriesFingerprint | undefined {
  if (old === undefined || stale === 'all') return found
  const kept = old.years.filter(({ year }) => !stale.has(year))
  const years = [...kept, ...(found?.years ?? [])].sort((a, b) => a.year - b.year)
  return years.length === 0 ? undefined : describeSeries(old, years, ends)
}
