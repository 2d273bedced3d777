import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Difference } from '../klines/audit/compare-series.js'
import type { IntervalPair } from '../klines/audit/cross-check.js'
import type { Gap } from '../klines/audit/inspect.js'
import type { Series } from '../klines/series.js'
import type { Mirror } from '../mirror/mirror.js'
import { type SeriesFindings, type SymbolFindings, SymbolVerifier } from './verify-symbol.js'
import { claim, WorkerPool } from './worker-pool.js'

/** What the candles of one series are like, and how much of them another series bears out. */
export interface SeriesReport extends Omit<SeriesFindings, 'gaps'> {
  readonly gaps: readonly (Gap & {
    /** Whether other symbols miss candles at the same time: the exchange was away. */
    readonly outage: boolean
  })[]
}

/** What a verification found. */
export interface VerificationReport {
  readonly mirror: string
  readonly series: readonly SeriesReport[]
  readonly pairs: readonly IntervalPair[]
  readonly differences: readonly Difference[]
}

/** How a verification goes about it. */
export interface VerifyKlinesOptions {
  /** Compare intervals with one another. Default true. */
  readonly audit?: boolean
  readonly signal?: AbortSignal | undefined
  readonly progress?: (done: number, total: number) => void
}

/**
 * Inspects every candle that a mirror holds of these series, and compares intervals of one symbol with one another. One symbol
 * is in memory at a time, and one more for each thread that helps with a large mirror. Throws `digits_lost` at a decimal too
 * long for exact sums, `mirror_unusable`.
 */
export async function verifyKlines(
  mirror: Mirror,
  series: readonly Series[],
  { audit = true, signal, progress = () => {} }: VerifyKlinesOptions = {},
): Promise<VerificationReport> {
  const held = series.map(one => ({ ...one, startDates: mirror.cachedStartDates(one) }))
  const symbols = [...new Set(series.map(one => one.symbol))].map(symbol => held.filter(one => one.symbol === symbol))
  const verifier = new SymbolVerifier(mirror, audit)
  const found: SymbolFindings[] = []
  let done = 0
  const advance = async (count = 1) => {
    done += count
    progress(done, series.length)
    await nextTurn()
    signal?.throwIfAborted()
  }
  const threads = new WorkerPool({ root: mirror.root, symbols, audit })
  const stop = () => threads.stop()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    // From the end, as the threads begin at the start.
    for (let index = symbols.length - 1; index >= 0; index--) {
      if (claim(threads.claims, index)) found[index] = await verifier.verify(symbols[index], advance)
    }
    for (const [index, windows] of symbols.entries()) {
      if (found[index]) continue
      const findings = await threads.findings(index)
      if (findings) await advance(windows.length)
      found[index] = findings ?? (await verifier.verify(windows, advance))
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    stop()
  }
  const all = found.flatMap(one => one.series)
  return {
    mirror: mirror.root,
    series: all.map(one => withOutages(one, all)),
    pairs: found.flatMap(one => one.pairs),
    differences: found.flatMap(one => one.differences),
  }
}

/** Marks the gaps in which another symbol has none of the same candles either. */
function withOutages(one: SeriesFindings, all: readonly SeriesFindings[]): SeriesReport {
  const others = all.filter(({ symbol, interval }) => interval === one.interval && symbol !== one.symbol)
  const gaps = one.gaps.map(gap => ({
    ...gap,
    outage: others.some(other =>
      other.gaps.some(({ startTime, endTime }) => startTime < gap.endTime && gap.startTime < endTime),
    ),
  }))
  return { ...one, gaps }
}
