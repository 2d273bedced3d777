import type { Catalogue } from '../../engine/catalogue.js'
import { EXCHANGE_INTERVALS, type Interval } from '../../klines/intervals.js'
import { formatCount } from '../../klines/text.js'
import { formatDate, windowLength, windowSpan } from '../../klines/windows.js'
import { textTable } from '../terminal/table.js'
import { type Report, sum } from './report.js'
import type { IntervalsObject, StartDatesObject, SymbolsObject } from './schema.js'

/** `symbols`: what the mirror holds of each. */
export function symbolsReport({ source, mirror, symbols }: Catalogue): Report<SymbolsObject> {
  // The exchange has thousands of symbols, and most have no folder to look into.
  const cached = new Set(mirror.symbols())
  const rows = symbols.map(symbol => {
    if (!cached.has(symbol)) return { symbol, mirrored: { intervals: [], windows: 0 } }
    const counts = EXCHANGE_INTERVALS.map(interval => mirror.dates({ symbol, interval }).length)
    const intervals = EXCHANGE_INTERVALS.filter((_, index) => counts[index] > 0)
    return { symbol, mirrored: { intervals, windows: sum(counts) } }
  })
  const head = ['symbol', 'cached windows', 'cached intervals']
  const cells = rows.map(({ symbol, mirrored: { windows, intervals } }) => [
    symbol,
    formatCount(windows),
    intervals.join(' ') || '-',
  ])
  return {
    json: { listsFrom: source, mirror: mirror.root, symbols: rows },
    text: () => textTable({ head, rows: cells, right: ['cached windows'] }),
  }
}

/** `intervals`: how each is cut into windows, since when, and what the mirror holds. */
export function intervalsReport({ source, mirror, symbols, startDates }: Catalogue): Report<IntervalsObject> {
  const rows = [...startDates].map(([interval, dates]) => ({
    interval,
    windowLength: windowLength(interval),
    firstStartDate: dates.at(0) ?? null,
    lastStartDate: dates.at(-1) ?? null,
    windows: dates.length,
    mirrored: sum(symbols.map(symbol => mirror.dates({ symbol, interval }).length)),
  }))
  const head = ['interval', 'window length', 'first', 'last', 'windows', 'cached (all symbols)']
  const cells = rows.map(({ interval, windowLength, firstStartDate, lastStartDate, windows, mirrored }) => [
    interval,
    windowLength,
    firstStartDate ?? '-',
    lastStartDate ?? '-',
    windows,
    formatCount(mirrored),
  ])
  return {
    json: { listsFrom: source, mirror: mirror.root, intervals: rows },
    text: () => textTable({ head, rows: cells, right: ['windows', 'cached (all symbols)'] }),
  }
}

/** `start-dates`: every window of an interval, and which symbols the mirror holds of it. */
export function startDatesReport(
  { source, mirror, symbols, startDates }: Catalogue,
  interval: Interval,
): Report<StartDatesObject> {
  const cached = symbols.map(symbol => ({ symbol, dates: new Set(mirror.dates({ symbol, interval })) }))
  const rows = (startDates.get(interval) ?? []).map(startDate => ({
    startDate,
    endDate: formatDate(windowSpan({ interval, startDate }).endTime),
    mirrored: cached.filter(({ dates }) => dates.has(startDate)).map(({ symbol }) => symbol),
  }))
  const cells = rows.map(({ startDate, endDate, mirrored }) => [
    startDate,
    endDate,
    mirrored.length === symbols.length ? 'all' : mirrored.join(' ') || '-',
  ])
  return {
    json: {
      listsFrom: source,
      mirror: mirror.root,
      interval,
      windowLength: windowLength(interval),
      startDates: rows,
    },
    text: () => textTable({ head: ['start', 'end (exclusive)', 'cached'], rows: cells }),
  }
}
