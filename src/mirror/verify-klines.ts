import { setImmediate as nextTurn } from 'node:timers/promises'
import { type AuditPair, auditSymbol } from '../klines/audit.js'
import { type WindowSpan, windowSpan } from '../klines/calendar.js'
import { CandleTable } from '../klines/candle-table.js'
import type { Difference, HeldSeries } from '../klines/comparison.js'
import { KlinesError } from '../klines/errors.js'
import { type Gap, type Inspection, inspect } from '../klines/inspect.js'
import { type Interval, nextOpenTime, stepsBetween } from '../klines/intervals.js'
import { Kernel } from '../klines/kernel.js'
import { type Series, windowName } from '../klines/series.js'
import type { Mirror } from './mirror.js'

/** What the candles of one series are like, and how much of them another series bears out. */
export interface SeriesVerdict extends Series, Omit<Inspection, 'gaps'> {
  readonly gaps: readonly (Gap & {
    /** Whether other symbols miss candles at the same time: the exchange was away. */
    readonly outage: boolean
  })[]
  readonly windows: number
  /** Windows whose file is not sound, and why. */
  readonly unsound: readonly { readonly startDate: string; readonly why: string }[]
  /** Candles that no finer series covers; undefined when nothing was compared. */
  readonly uncovered: number | undefined
}

/** What a verification found. */
export interface KlinesVerdict {
  readonly mirror: string
  readonly series: readonly SeriesVerdict[]
  readonly pairs: readonly AuditPair[]
  readonly differences: readonly Difference[]
}

/** How a verification goes about it. */
export interface VerifyKlinesOptions {
  /** Compare intervals with one another. Default true. */
  readonly audit?: boolean
  readonly signal?: AbortSignal | undefined
  readonly progress?: (done: number, total: number) => void
}

/** A series as it was read. */
type ReadSeries = HeldSeries & Omit<SeriesVerdict, 'gaps' | 'uncovered'> & { readonly gaps: readonly Gap[] }

/**
 * Inspects every candle that a mirror holds of these series, and compares intervals of one symbol with one another. One symbol
 * is in memory at a time. Throws `digits_lost` at a decimal too long for exact sums, `mirror_unusable`.
 */
export async function verifyKlines(
  mirror: Mirror,
  series: readonly Series[],
  { audit = true, signal, progress = () => {} }: VerifyKlinesOptions = {},
): Promise<KlinesVerdict> {
  const verdicts: (Omit<SeriesVerdict, 'gaps'> & { gaps: readonly Gap[] })[] = []
  const pairs: AuditPair[] = []
  const differences: Difference[] = []
  // One symbol's tables serve the next one, too: they are large.
  const tables = new Map<Interval, CandleTable>()
  const kernel = new Kernel()
  let done = 0
  for (const symbol of new Set(series.map(one => one.symbol))) {
    const held: ReadSeries[] = []
    for (const one of series.filter(other => other.symbol === symbol)) {
      const table = tables.get(one.interval) ?? new CandleTable(kernel)
      tables.set(one.interval, table)
      held.push(readSeries(mirror, one, table))
      progress(++done, series.length)
      await nextTurn()
      signal?.throwIfAborted()
    }
    const found = audit ? auditSymbol(held) : undefined
    pairs.push(...(found?.pairs ?? []))
    differences.push(...(found?.differences ?? []))
    for (const { table, spans, series: of, ...verdict } of held) {
      verdicts.push({ ...verdict, uncovered: found?.uncovered.get(of.interval) })
    }
  }
  return { mirror: mirror.root, series: verdicts.map(one => withOutages(one, verdicts)), pairs, differences }
}

function readSeries(mirror: Mirror, series: Series, table: CandleTable): ReadSeries {
  table.clear()
  const held: WindowSpan[] = []
  const unsound: { startDate: string; why: string }[] = []
  const startDates = mirror.heldStartDates(series)
  table.reserve(candlesIn(series.interval, startDates))
  for (const startDate of startDates) {
    const window = { ...series, startDate }
    const batch = mirror.readBriefly(window, table.kernel)
    if (batch === undefined) continue
    if (batch instanceof KlinesError) {
      unsound.push({ startDate, why: batch.message.replace(`${windowName(window)}: `, '') })
      continue
    }
    held.push(windowSpan(window))
    table.add(batch)
  }
  const inspection = inspect(series, table)
  const { lastOpenTime } = inspection
  const spans = lastOpenTime === undefined ? [] : coveredSpans(held, nextOpenTime(series.interval, lastOpenTime))
  return { ...series, ...inspection, windows: startDates.length, unsound, series, table, spans }
}

/** How many candles windows have room for, about: what is reserved at once is not moved again. */
function candlesIn(interval: Interval, startDates: readonly string[]): number {
  if (startDates.length === 0) return 0
  const { startTime, endTime } = windowSpan({ interval, startDate: startDates[0] })
  return startDates.length * stepsBetween(interval, startTime, endTime)
}

/** Neighbouring windows as one span, none beyond the end of the last candle. */
function coveredSpans(windows: readonly WindowSpan[], endOfCandles: number): WindowSpan[] {
  const spans: { startTime: number; endTime: number }[] = []
  for (const { startTime, endTime } of windows) {
    const last = spans.at(-1)
    if (last?.endTime === startTime) last.endTime = endTime
    else spans.push({ startTime, endTime })
  }
  return spans.map(({ startTime, endTime }) => ({ startTime, endTime: Math.min(endTime, endOfCandles) }))
}

/** Marks the gaps in which another symbol has none of the same candles either. */
function withOutages<T extends Series & { gaps: readonly Gap[] }>(
  one: T,
  all: readonly T[],
): T & { gaps: SeriesVerdict['gaps'] } {
  const others = all.filter(({ symbol, interval }) => interval === one.interval && symbol !== one.symbol)
  const gaps = one.gaps.map(gap => ({
    ...gap,
    outage: others.some(other =>
      other.gaps.some(({ startTime, endTime }) => startTime < gap.endTime && gap.startTime < endTime),
    ),
  }))
  return { ...one, gaps }
}
