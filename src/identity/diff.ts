import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isKlinesError, KlinesError } from '../candles/errors.js'
import { isInterval } from '../candles/intervals.js'
import type { SeriesLabel } from '../candles/series.js'
import { parseRequestedRange, type RangeText, type RequestedRange, type TimeRange } from '../candles/time-range.js'
import type { Coverage } from '../engine/coverage.js'
import type { WindowFailure } from '../engine/outcome.js'
import type { SourceOptions } from '../engine/run.js'
import { badInput, inputError } from '../formats/read/errors.js'
import { META_FILE } from '../mirror/meta.js'
import { isExchange, SAMPLE } from '../sources/base-url.js'
import { CandleComparison, type DiffCounts, type Difference } from './compare-candles.js'
import { type SeriesFilter, selectSeries } from './select-series.js'
import { type DiffSide, openFileSide, openTreeSide } from './sides.js'

/** What is compared. */
export interface DiffRequest extends Partial<SeriesFilter>, RangeText, Omit<SourceOptions, 'baseUrl' | 'mirror'> {
  /** Two mirrors, lakes, files that klines wrote, or services: `binance`, or a base address. */
  readonly sides: readonly [string, string]
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

/** Two sides that are open, and the series that both are compared in. */
export interface Diff {
  readonly a: DiffSide
  readonly b: DiffSide
  readonly series: readonly SeriesLabel[]
  readonly range: RequestedRange
  /** Whether a service is compared only as far as the other side has candles. */
  readonly isLimited: boolean
  close(): Promise<void>
}

/**
 * Opens both sides, and downloads what is needed of a service. Throws `bad_input` and `damaged_input` for files, `bad_option`,
 * `window_missing` when no side has a series, and what `downloadKlines` throws.
 */
export async function openDiff(request: DiffRequest): Promise<Diff> {
  const { symbols = [], intervals = [], now = Date.now() } = request
  const range = parseRequestedRange(request, now)
  const sides: DiffSide[] = []
  const close = async () => {
    for (const side of sides) await side.close()
  }
  try {
    for (const side of request.sides) sides.push(await openSide(side, request, range))
    const [a, b] = sides
    const series = selectSeries(sides, { symbols, intervals })
    const hasService = sides.some(({ kind }) => kind === 'service')
    const isLimited = hasService && (range.fromTime === -Infinity || range.toTime === Infinity)
    const diff = { a, b, series, range, isLimited, close }
    const wanted = series.flatMap(({ symbol, interval }) => {
      const range = rangeOf(diff, { symbol, interval })
      return isInterval(interval) ? { series: { symbol, interval }, range } : []
    })
    for (const side of sides) await side.prepare(wanted)
    return diff
  } catch (error) {
    await close()
    throw error
  }
}

/** Compares all series of two sides. Of each, `most` differences are kept. `progress`: called when a series is done. */
export async function compareSides(
  diff: Diff,
  most: number,
  progress: (done: number, total: number) => void = () => {},
): Promise<ComparedSeries[]> {
  const found: ComparedSeries[] = []
  progress(0, diff.series.length)
  for (const series of diff.series) {
    const { comparison, a, b } = open(diff, series)
    const kept: Difference[] = []
    let total = 0
    for await (const differences of comparison.differences()) {
      total += differences.length
      if (kept.length < most) kept.push(...differences.slice(0, most - kept.length))
    }
    const coverage = { a: a.coverage(), b: b.coverage() }
    const failures = { a: a.failures, b: b.failures }
    found.push({ ...series, ...comparison.counts, differences: kept, total, failures, coverage })
    progress(found.length, diff.series.length)
  }
  return found
}

function open(diff: Diff, series: SeriesLabel) {
  const range = rangeOf(diff, series)
  const [a, b] = [diff.a.open(series, range), diff.b.open(series, range)]
  return { comparison: new CandleComparison(series.interval, a, b), a, b }
}

/** A service has candles for ever: an end that is not named is that of the other side's candles. */
function rangeOf({ a, b, range }: Pick<Diff, 'a' | 'b' | 'range'>, series: SeriesLabel): TimeRange {
  const { fromTime, toTime } = range
  const other = [a, b].find(({ kind }) => kind !== 'service')
  if (other === undefined || [a, b].every(({ kind }) => kind !== 'service')) return { fromTime, toTime }
  const span = other.span(series) ?? { fromTime: 0, toTime: 0 }
  return {
    fromTime: fromTime === -Infinity ? span.fromTime : fromTime,
    toTime: toTime === Infinity ? span.toTime : toTime,
  }
}

/** Whether a name is that of a service; a file or a folder of that name is written with `./`. */
function isService(name: string): boolean {
  return name === SAMPLE || isExchange(name) || /^[a-z][a-z0-9+.-]*:\/\//i.test(name)
}

const EXPECTED = 'Expected a mirror, a lake, a file that klines wrote, binance or a base address.'

async function openSide(name: string, request: DiffRequest, range: RequestedRange): Promise<DiffSide> {
  const { signal = new AbortController().signal } = request
  if (isService(name)) return openTreeSide(name, { ...request, baseUrl: name, mirror: undefined }, range)
  if (!isFolder(name)) return openFileSide(name, signal)
  if (['api/klines', META_FILE].some(path => existsSync(join(name, path))))
    return openTreeSide(name, { ...request, mirror: name, offline: true }, range)
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
