import type { Gap } from '../klines/audit/gaps.js'
import { overlaps, union } from '../klines/audit/time-spans.js'
import type { SymbolName } from '../klines/symbols.js'
import type { WindowSpan } from '../klines/windows.js'
import type { SeriesFindings } from './verify-symbol.js'

/** The findings for a series. */
export interface SeriesReport extends Omit<SeriesFindings, 'gaps'> {
  readonly gaps: readonly (Gap & {
    /** Whether another symbol lacks candles at the same time, for half of it or more: the exchange was down. */
    readonly outage: boolean
  })[]
}

/** Marks the gaps during at least half of which another symbol, at any interval, lacks candles too. */
export function markOutages(all: readonly SeriesFindings[]): SeriesReport[] {
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
