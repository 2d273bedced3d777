import { type Series, seriesName } from '../../../klines/series.js'
import { formatCount, formatTime, plural } from '../../../klines/text.js'
import type { VerifiedSeries } from '../../../verify/verify.js'
import { textTable } from '../../terminal/table.js'

/** Longer tables show the longest outages only. */
const MAX_ROWS = 10
/** More symbols are counted, and so are more intervals. */
const MAX_SYMBOLS = 3
const MAX_INTERVALS = 9

/** A time without candles in one or more series, ms UTC. */
export interface Outage {
  readonly startTime: number
  readonly endTime: number
  readonly series: readonly Series[]
  /** Whether several symbols lack candles: the exchange was down. */
  readonly isShared: boolean
}

/** Merges the gaps that overlap, outages with outages and other gaps with those of their symbol; ascending. */
export function mergeGaps(series: readonly VerifiedSeries[]): Outage[] {
  const groups = new Map<string, OpenOutage[]>()
  const gaps = series.flatMap(({ gaps, ...one }) => gaps.map(gap => ({ ...gap, one })))
  for (const { startTime, endTime, outage: isShared, one } of gaps.toSorted((a, b) => a.startTime - b.startTime)) {
    const name = isShared ? 'shared' : one.symbol
    const group = groups.get(name) ?? []
    groups.set(name, group)
    const last = group.at(-1)
    if (last === undefined || startTime >= last.endTime) {
      group.push({ startTime, endTime, isShared, series: new Map([[seriesName(one), one]]) })
    } else {
      last.endTime = Math.max(last.endTime, endTime)
      last.series.set(seriesName(one), one)
    }
  }
  const merged = [...groups.values()].flat().sort((a, b) => a.startTime - b.startTime)
  return merged.map(outage => ({ ...outage, series: [...outage.series.values()] }))
}

/** An outage to which further gaps may be added. */
interface OpenOutage {
  readonly startTime: number
  endTime: number
  readonly isShared: boolean
  readonly series: Map<string, Series>
}

/** Tables of the outages, one for those of the exchange and one for gaps that only one symbol has. */
export function outageSections(outages: readonly Outage[], symbols: number, verbose: boolean): string[] {
  const shared = outages.filter(({ isShared }) => isShared)
  const single = outages.filter(({ isShared }) => !isShared)
  const singleTitle = symbols === 1 ? 'Gaps, usually outages of the exchange' : 'Gaps of a single symbol'
  return [
    ...(shared.length > 0 ? [outageTable('Outages of the exchange', shared, verbose)] : []),
    ...(single.length > 0 ? [outageTable(singleTitle, single, verbose)] : []),
  ]
}

function outageTable(title: string, outages: readonly Outage[], verbose: boolean): string {
  const longestFirst = outages.toSorted((a, b) => length(b) - length(a))
  const listed = new Set(verbose ? outages : longestFirst.slice(0, MAX_ROWS))
  const rows = outages
    .filter(outage => listed.has(outage))
    .map(outage => [formatTime(outage.startTime), formatLength(length(outage)), describeSeries(outage.series)])
  const more = rows.length < outages.length ? `, the ${rows.length} longest (all with -v)` : ''
  const table = textTable({ head: ['start (UTC)', 'length', 'series'], rows, right: ['length'] })
  return `${title}: ${formatCount(outages.length)}${more}\n${table}`
}

function describeSeries(series: readonly Series[]): string {
  const symbols = [...new Set(series.map(({ symbol }) => symbol))]
  const intervals = [...new Set(series.map(({ interval }) => interval))]
  const count = `${formatCount(series.length)} series`
  if (symbols.length > MAX_SYMBOLS) return `${count} of ${plural(symbols.length, 'symbol')}`
  if (symbols.length > 1 || intervals.length > MAX_INTERVALS) return `${count} of ${symbols.join(', ')}`
  return `${symbols[0]} ${intervals.join(', ')}`
}

function length({ startTime, endTime }: Outage): number {
  return endTime - startTime
}

/** `45 min`, `33 h`, `1 h 30 min`, `12 d 4 h`. */
function formatLength(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  const [days, hours] =
    minutes < 48 * 60 ? [0, Math.floor(minutes / 60)] : [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24]
  const parts = [
    days > 0 && `${formatCount(days)} d`,
    hours > 0 && `${hours} h`,
    minutes % 60 > 0 && `${minutes % 60} min`,
  ]
  return parts.filter(Boolean).slice(0, 2).join(' ')
}
