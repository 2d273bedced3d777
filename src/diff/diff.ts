import { statSync } from 'node:fs'
import { badInput, inputError } from '../candle-files/errors.js'
import { toWarn } from '../download/events.js'
import type { SourceOptions } from '../download/sources/source-options.js'
import type { WindowFailure } from '../download/sources/window-source.js'
import { isExchange, SAMPLE } from '../http/base-url.js'
import type { Coverage } from '../klines/audit/coverage.js'
import { isKlinesError, KlinesError } from '../klines/errors.js'
import { isInterval } from '../klines/intervals.js'
import type { SeriesLabel } from '../klines/series.js'
import type { RequestedRange, TimeRange } from '../klines/time-range.js'
import { Mirror } from '../mirror/mirror.js'
import { CandleComparison, type DiffCounts, type Difference } from './compare-candles.js'
import { openFileSide } from './file-side.js'
import { type SeriesFilter, selectSeries } from './select-series.js'
import type { DiffSide } from './side.js'
import { openMirrorSide, openServiceSide } from './tree-side.js'

/** What is compared. */
export interface DiffRequest extends SeriesFilter, Omit<SourceOptions, 'baseUrl' | 'mirror'> {
  /** Two mirrors, lakes, files, or services. */
  readonly sides: readonly [SideRequest, SideRequest]
  readonly range: RequestedRange
  readonly signal: AbortSignal
}

/** A side as the user names it. */
export interface SideRequest {
  readonly name: string
  /** Of a service, whose candles come through its own mirror; undefined for a path. */
  readonly baseUrl?: string | undefined
}

/** A series that was compared. */
export interface ComparedSeries extends SeriesLabel, DiffCounts {
  /** The first differences, and the number of all. */
  readonly differences: readonly Difference[]
  readonly total: number
  /** Windows of each side that could not be compared. */
  readonly failures: { readonly a: readonly WindowFailure[]; readonly b: readonly WindowFailure[] }
  /** How much of the requested range each side has; undefined for a file, and without a named end. */
  readonly coverage: { readonly a: Coverage | undefined; readonly b: Coverage | undefined }
}

/** Whether a name is that of a service; a file or a folder of that name is written with `./`. */
export function isService(name: string): boolean {
  return name === SAMPLE || isExchange(name) || /^[a-z][a-z0-9+.-]*:\/\//i.test(name)
}

/**
 * Opens both sides, and downloads what is needed of a service. Throws `bad_input` and `damaged_input` for files, `bad_option`,
 * `window_missing` when no side has a series, and what `downloadKlines` throws.
 */
export async function openDiff(request: DiffRequest): Promise<Diff> {
  const sides: DiffSide[] = []
  try {
    for (const side of request.sides) sides.push(await openSide(side, request))
    const [a, b] = sides
    const diff = new Diff(a, b, selectSeries(sides, request), request.range)
    await diff.prepare()
    return diff
  } catch (error) {
    for (const side of sides) await side.close()
    throw error
  }
}

/** Two sides, and their series. */
export class Diff {
  constructor(
    readonly a: DiffSide,
    readonly b: DiffSide,
    readonly series: readonly SeriesLabel[],
    readonly range: RequestedRange,
  ) {}

  /** Whether a service is compared only as far as the other side has candles. */
  get isLimited(): boolean {
    const { fromTime, toTime } = this.range
    return this.service !== undefined && (fromTime === -Infinity || toTime === Infinity)
  }

  private get service(): DiffSide | undefined {
    return [this.a, this.b].find(({ kind }) => kind === 'service')
  }

  async prepare(): Promise<void> {
    const ranges = this.series.flatMap(({ symbol, interval }) => {
      const range = this.rangeOf({ symbol, interval })
      return isInterval(interval) ? { series: { symbol, interval }, range } : []
    })
    await this.a.prepare(ranges)
    await this.b.prepare(ranges)
  }

  /** Compares all series. Of each, `most` differences are kept. `progress`: called when a series is done. */
  async compare(
    most: number,
    progress: (done: number, total: number, label?: string) => void,
  ): Promise<ComparedSeries[]> {
    const found: ComparedSeries[] = []
    progress(0, this.series.length)
    for (const series of this.series) {
      const { comparison, failures, a, b } = this.open(series)
      const kept: Difference[] = []
      let total = 0
      for await (const differences of comparison.differences()) {
        total += differences.length
        if (kept.length < most) kept.push(...differences.slice(0, most - kept.length))
      }
      const coverage = { a: a.coverage(), b: b.coverage() }
      found.push({ ...series, ...comparison.counts, differences: kept, total, failures, coverage })
      progress(found.length, this.series.length)
    }
    return found
  }

  /** All differences of a series, some at once: both sides are read again. */
  differences(series: SeriesLabel): AsyncGenerator<readonly Difference[]> {
    return this.open(series).comparison.differences()
  }

  async close(): Promise<void> {
    await this.a.close()
    await this.b.close()
  }

  private open(series: SeriesLabel) {
    const range = this.rangeOf(series)
    const [a, b] = [this.a.open(series, range), this.b.open(series, range)]
    const failures = { a: a.failures, b: b.failures }
    return { comparison: new CandleComparison(series.interval, a, b), failures, a, b }
  }

  /** A service has candles for ever: an end that is not named is that of the other side's candles. */
  private rangeOf(series: SeriesLabel): TimeRange {
    const { fromTime, toTime } = this.range
    if (this.service === undefined) return { fromTime, toTime }
    const span = this.a.span(series) ?? this.b.span(series) ?? { fromTime: 0, toTime: 0 }
    return {
      fromTime: fromTime === -Infinity ? span.fromTime : fromTime,
      toTime: toTime === Infinity ? span.toTime : toTime,
    }
  }
}

const EXPECTED = 'Expected a mirror, a lake, a file that klines wrote, binance or a base address.'

async function openSide({ name, baseUrl }: SideRequest, request: DiffRequest): Promise<DiffSide> {
  const { range, signal } = request
  if (baseUrl !== undefined) return openServiceSide(name, { ...request, baseUrl }, signal)
  if (!isFolder(name)) return openFileSide(name, signal)
  const mirror = new Mirror(name)
  if (mirror.files.exists || mirror.upkeep.readMeta() !== undefined) {
    return openMirrorSide(name, { range, warn: toWarn(request), signal })
  }
  try {
    return await openFileSide(name, signal)
  } catch (error) {
    if (!isKlinesError(error, 'bad_input') || error.data.file !== undefined) throw error
    const message = `${error.message} Nor is it a mirror, because it has no api/klines.`
    throw new KlinesError('bad_input', message, { suggestions: [EXPECTED] })
  }
}

function isFolder(path: string): boolean {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats !== undefined) return stats.isDirectory()
  } catch (error) {
    throw inputError(path, error)
  }
  throw badInput({ file: path }, 'there is no such file or folder', [EXPECTED])
}
