import type { LoadedSeries } from '../klines/audit/compare-series.js'
import { type CrossCheck, crossCheck } from '../klines/audit/cross-check.js'
import { type Inspection, inspect } from '../klines/audit/inspect.js'
import { type Interval, nextOpenTime, stepsBetween } from '../klines/intervals.js'
import { CandleTable } from '../klines/kernel/candle-table.js'
import { Kernel } from '../klines/kernel/kernel.js'
import { type Series, windowName } from '../klines/series.js'
import { type WindowSpan, windowSpan } from '../klines/windows.js'
import type { Mirror } from '../mirror/mirror.js'

/** The cached windows of a series, startDates ascending. */
export interface SeriesWindows extends Series {
  readonly startDates: readonly string[]
}

/** The inspection of a series and how far finer series of the symbol confirm it. */
export interface SeriesFindings extends Series, Inspection {
  readonly windows: number
  /** Windows whose file is corrupt. */
  readonly corrupt: readonly { readonly startDate: string; readonly reason: string }[]
  /** Candles that no finer series covers; undefined without a comparison. */
  readonly unverified: number | undefined
}

/** The findings for the series of one symbol. */
export interface SymbolFindings extends Pick<CrossCheck, 'pairs' | 'differences'> {
  readonly series: readonly SeriesFindings[]
}

/** Reads, inspects and compares the series of one symbol after another, in the same memory. */
export class SymbolVerifier {
  private readonly kernel = new Kernel()
  private readonly tables = new Map<Interval, CandleTable>()

  constructor(
    private readonly mirror: Mirror,
    /** Whether to compare the intervals. */
    private readonly audit: boolean,
  ) {}

  /**
   * Inspects every candle of the series of one symbol and calls `afterEach` after each series. Throws `digits_lost` for a
   * decimal too long for exact sums, `mirror_unusable`, and what `afterEach` throws.
   */
  async verify(seriesWindows: readonly SeriesWindows[], afterEach = async () => {}): Promise<SymbolFindings> {
    const loaded: (LoadedSeries & { findings: Omit<SeriesFindings, 'unverified'> })[] = []
    for (const windows of seriesWindows) {
      loaded.push(this.load(windows))
      await afterEach()
    }
    const audit = this.audit ? crossCheck(loaded) : undefined
    const series = loaded.map(({ findings }) => ({ ...findings, unverified: audit?.unverified.get(findings.interval) }))
    return { series, pairs: audit?.pairs ?? [], differences: audit?.differences ?? [] }
  }

  private load({ symbol, interval, startDates }: SeriesWindows) {
    const series = { symbol, interval }
    const table = this.tables.get(interval) ?? new CandleTable(this.kernel)
    this.tables.set(interval, table)
    table.clear()
    table.reserve(countCandles(interval, startDates))
    const loadedSpans: WindowSpan[] = []
    const corrupt: { startDate: string; reason: string }[] = []
    for (const startDate of startDates) {
      const window = { symbol, interval, startDate }
      const read = this.mirror.borrowWindow(window, this.kernel)
      if (read.state === 'missing') continue
      if (read.state === 'corrupt') {
        corrupt.push({ startDate, reason: read.error.message.replace(`${windowName(window)}: `, '') })
        continue
      }
      loadedSpans.push(windowSpan(window))
      table.add(read.batch)
    }
    const inspection = inspect(series, table)
    const { lastOpenTime } = inspection
    const spans = lastOpenTime === undefined ? [] : mergeSpans(loadedSpans, nextOpenTime(interval, lastOpenTime))
    return { series, table, spans, findings: { ...series, ...inspection, windows: startDates.length, corrupt } }
  }
}

/** About how many candles the windows have: a table that is reserved at once is not moved when it grows. */
function countCandles(interval: Interval, startDates: readonly string[]): number {
  if (startDates.length === 0) return 0
  const { startTime, endTime } = windowSpan({ interval, startDate: startDates[0] })
  return startDates.length * stepsBetween(interval, startTime, endTime)
}

/** Merges adjacent windows to spans that end no later than the last candle. */
function mergeSpans(windows: readonly WindowSpan[], endOfCandles: number): WindowSpan[] {
  const spans: { startTime: number; endTime: number }[] = []
  for (const { startTime, endTime } of windows) {
    const last = spans.at(-1)
    if (last?.endTime === startTime) last.endTime = endTime
    else spans.push({ startTime, endTime })
  }
  return spans.map(({ startTime, endTime }) => ({ startTime, endTime: Math.min(endTime, endOfCandles) }))
}
