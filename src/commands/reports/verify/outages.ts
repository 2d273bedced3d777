import { textTable } from '../../../cli/terminal/table.js'
import type { Series } from '../../../klines/series.js'
import { formatCount, formatTime, plural } from '../../../klines/text.js'
import type { Outage } from '../../../verify/verdict.js'

/** Longer tables show the longest outages only. */
const MAX_ROWS = 10
/** More symbols are counted, and so are more intervals. */
const MAX_SYMBOLS = 3
const MAX_INTERVALS = 9

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
