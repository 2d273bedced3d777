import type { LoadedSeries } from '../klines/audit/compare-series.js'
import { type CrossCheck, crossCheck } from '../klines/audit/cross-check.js'
import { type Inspection, inspect } from '../klines/audit/inspect.js'
import { type Interval, nextOpenTime, stepsBetween } from '../klines/intervals.js'
import { CandleTable } from '../klines/kernel/candle-table.js'
import { Kernel } from '../klines/kernel/kernel.js'
import { type Series, windowName } from '../klines/series.js'
import { type WindowSpan, windowSpan } from '../klines/windows.js'
import type { Mirror } from '../mirror/mirror.js'

/** The windows that are held of a series, their startDates ascending. */
export interface SeriesWindows extends Series {
  readonly startDates: readonly string[]
}

/** What the candles of one series are like, and how much of them another series of the symbol bears out. */
export interface SeriesFindings extends Series, Inspection {
  readonly windows: number
  /** Windows whose file is not sound, and why. */
  readonly corrupt: readonly { readonly startDate: string; readonly reason: string }[]
  /** Candles that no finer series covers; undefined when nothing was compared. */
  readonly unverified: number | undefined
}

/** What was found in the series of one symbol. */
export interface SymbolFindings extends Pick<CrossCheck, 'pairs' | 'differences'> {
  readonly series: readonly SeriesFindings[]
}

/** Reads, inspects and audits one symbol after another, in the same memory. */
export class SymbolVerifier {
  private readonly kernel = new Kernel()
  private readonly tables = new Map<Interval, CandleTable>()

  constructor(
    private readonly mirror: Mirror,
    /** Whether to compare intervals with one another. */
    private readonly audit: boolean,
  ) {}

  /**
   * Inspects every candle of these series of one symbol; `afterEach` is called after each of them. Throws `digits_lost` at a
   * decimal too long for exact sums, `mirror_unusable`, and what `afterEach` throws.
   */
  async verify(all: readonly SeriesWindows[], afterEach = async () => {}): Promise<SymbolFindings> {
    const held: (LoadedSeries & { findings: Omit<SeriesFindings, 'unverified'> })[] = []
    for (const one of all) {
      held.push(this.read(one))
      await afterEach()
    }
    const audit = this.audit ? crossCheck(held) : undefined
    const series = held.map(({ findings }) => ({ ...findings, unverified: audit?.unverified.get(findings.interval) }))
    return { series, pairs: audit?.pairs ?? [], differences: audit?.differences ?? [] }
  }

  private read({ symbol, interval, startDates }: SeriesWindows) {
    const series = { symbol, interval }
    const table = this.tables.get(interval) ?? new CandleTable(this.kernel)
    this.tables.set(interval, table)
    table.clear()
    table.reserve(candlesIn(interval, startDates))
    const held: WindowSpan[] = []
    const corrupt: { startDate: string; reason: string }[] = []
    for (const startDate of startDates) {
      const window = { symbol, interval, startDate }
      const read = this.mirror.borrowWindow(window, this.kernel)
      if (read.state === 'missing') continue
      if (read.state === 'corrupt') {
        corrupt.push({ startDate, reason: read.error.message.replace(`${windowName(window)}: `, '') })
        continue
      }
      held.push(windowSpan(window))
      table.add(read.batch)
    }
    const inspection = inspect(series, table)
    const { lastOpenTime } = inspection
    const spans = lastOpenTime === undefined ? [] : coveredSpans(held, nextOpenTime(interval, lastOpenTime))
    return { series, table, spans, findings: { ...series, ...inspection, windows: startDates.length, corrupt } }
  }
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
