import { setImmediate as nextTurn } from 'node:timers/promises'
import { coverSeries } from '../download/coverage.js'
import { findFirst } from '../download/series-ends.js'
import type { Warn } from '../download/sources/window-source.js'
import { systemClock } from '../http/system-clock.js'
import type { Difference } from '../klines/audit/compare-series.js'
import type { Coverage } from '../klines/audit/coverage.js'
import type { IntervalPair } from '../klines/audit/cross-check.js'
import type { Gap } from '../klines/audit/gaps.js'
import { overlaps, union } from '../klines/audit/time-spans.js'
import type { Series } from '../klines/series.js'
import type { SymbolName } from '../klines/symbols.js'
import { ALL_TIME, parseRequestedRange, type RequestedRange } from '../klines/time-range.js'
import type { WindowSpan } from '../klines/windows.js'
import type { Mirror } from '../mirror/mirror.js'
import { countThreads, parseThreads, type ThreadOptions } from '../threads/thread-count.js'
import { WorkerPool } from '../threads/worker-pool.js'
import { planVerification } from './plan.js'
import type { SeriesWindows } from './series-reader.js'
import { type SeriesFindings, type SymbolFindings, SymbolVerifier, type VerifyScope } from './verify-symbol.js'

/** The result of `verifyKlines`. */
export interface VerificationReport {
  readonly mirror: string
  /** Base address of the mirror; undefined for one that does not say it. */
  readonly baseUrl: string | undefined
  /** The range that was requested; undefined when each series was verified from its first to its last cached window. */
  readonly range: RequestedRange | undefined
  readonly series: readonly VerifiedSeries[]
  readonly pairs: readonly IntervalPair[]
  readonly differences: readonly Difference[]
}

/** What a worker starts with. */
export interface WorkerScope extends VerifyScope {
  /** The root of the mirror. */
  readonly root: string
}

/** Options of `verifySeries`. Each thread has at most about 100 MB, however long the series are. */
export interface VerifySeriesOptions extends ThreadOptions, Pick<VerifyScope, 'sliceCandles'> {
  /** Open times, ms UTC. Default: from the first to the last cached window of each series. */
  readonly range?: RequestedRange | undefined
  /** The present, ms UTC: windows that start later are not missing. Default: this machine's clock. */
  readonly now?: number | undefined
  readonly warn?: Warn | undefined
  readonly signal?: AbortSignal | undefined
  /** Numbers of windows. */
  readonly progress?: (done: number, total: number) => void
}

/**
 * Inspects every cached candle of these series, compares the intervals of each symbol, and finds the windows that the mirror
 * lacks. A slice of one symbol is in memory at a time, and one more for each thread that helps with a large mirror. Throws `digits_lost`
 * for a decimal too long for exact sums, `mirror_unusable`, and `bad_option`.
 */
export async function verifySeries(
  mirror: Mirror,
  series: readonly Series[],
  options: VerifySeriesOptions = {},
): Promise<VerificationReport> {
  const { range, now = systemClock.now(), sliceCandles, warn = () => {} } = options
  const { signal, progress = () => {} } = options
  const threads = parseThreads(options)
  const windows = await planVerification(mirror, series, { range, now, warn })
  const names = [...new Set(series.map(({ symbol }) => symbol))]
  const symbols = names.map(name => windows.filter(({ symbol }) => symbol === name))
  const scope = { range: range ?? ALL_TIME, neededUntil: now, sliceCandles }
  const verifier = new SymbolVerifier(mirror, scope)
  const findings: SymbolFindings[] = []
  let done = 0
  const count = countWindows(windows)
  const advance = async (read: number) => {
    done += read
    progress(done, count)
    await nextTurn()
    signal?.throwIfAborted()
  }
  const pool = new WorkerPool<SymbolFindings>({
    module: 'verify/worker.cjs',
    workers: countThreads(symbols.length, count, threads) - 1,
    data: { root: mirror.root, ...scope } satisfies WorkerScope,
    tasks: symbols,
  })
  const stop = () => pool.stop()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    // The threads start at the other end of the list.
    for (let index = symbols.length - 1; index >= 0; index--) {
      if (pool.claim(index)) findings[index] = await verifier.verify(symbols[index], advance)
    }
    for (const [index, windows] of symbols.entries()) {
      if (findings[index]) continue
      const found = await pool.result(index)
      if (found) await advance(countWindows(windows))
      findings[index] = found ?? (await verifier.verify(windows, advance))
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    await stop()
  }
  const all = findings.flatMap(symbol => symbol.series)
  const requested = range ?? parseRequestedRange({}, now)
  const cover = (one: SeriesWithOutages) =>
    withoutGaps(coverSeries(one, requested, one, findFirst(mirror, one)), one.gaps)
  return {
    mirror: mirror.root,
    baseUrl: mirror.baseUrl,
    range,
    series: markOutages(all).map(one => ({ ...one, coverage: cover(one) })),
    pairs: findings.flatMap(symbol => symbol.pairs),
    differences: findings.flatMap(symbol => symbol.differences),
  }
}

function countWindows(series: readonly SeriesWindows[]): number {
  return series.reduce((sum, { startDates }) => sum + startDates.length, 0)
}

/** The findings for a series, and how much of the requested range it has. */
export interface VerifiedSeries extends SeriesWithOutages {
  readonly coverage: Coverage
}

interface SeriesWithOutages extends Omit<SeriesFindings, 'gaps'> {
  readonly gaps: readonly (Gap & {
    /** Whether another symbol lacks candles at the same time, for half of it or more: the exchange was down. */
    readonly outage: boolean
  })[]
}

/** Candles at the ends of the range that count as gaps, because others of the series surround them, are not counted twice. */
function withoutGaps(coverage: Coverage, gaps: readonly Gap[]): Coverage {
  const { first = -Infinity, last = -Infinity, shortAtStart, shortAtEnd } = coverage
  const before = count(gaps.filter(({ startTime }) => startTime < first))
  const after = count(gaps.filter(({ startTime }) => startTime > last))
  return {
    ...coverage,
    shortAtStart: Math.max(0, shortAtStart - before),
    shortAtEnd: Math.max(0, shortAtEnd - after),
  }
}

function count(gaps: readonly Gap[]): number {
  return gaps.reduce((sum, { missing }) => sum + missing, 0)
}

/** Marks the gaps during at least half of which another symbol, at any interval, lacks candles too. */
function markOutages(all: readonly SeriesFindings[]): SeriesWithOutages[] {
  const gaps = all
    .flatMap(({ symbol, gaps }) => gaps.map(({ startTime, endTime }) => ({ symbol, startTime, endTime })))
    .sort((a, b) => a.startTime - b.startTime)
  /** When any other symbol lacks candles. */
  const others = new Map<SymbolName, WindowSpan[]>()
  return all.map(series => {
    const { symbol } = series
    const lacking = others.get(symbol) ?? union(gaps.filter(gap => gap.symbol !== symbol))
    others.set(symbol, lacking)
    const isOutage = (gap: WindowSpan) => 2 * length(overlaps([gap], lacking)) >= length([gap])
    return { ...series, gaps: series.gaps.map(gap => ({ ...gap, outage: isOutage(gap) })) }
  })
}

/** ms. */
function length(spans: readonly WindowSpan[]): number {
  return spans.reduce((sum, { startTime, endTime }) => sum + endTime - startTime, 0)
}
