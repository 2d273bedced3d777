import type { Catalogue } from '../../download/catalogue.js'
import { INTERVALS, type Interval } from '../../klines/intervals.js'
import { formatDate, windowLength, windowSpan } from '../../klines/windows.js'
import { formatCount, textTable } from '../terminal/text.js'

/** What a list command has to show. */
export interface ListReport {
  readonly json: object
  readonly text: () => string
}

/** `symbols`: what the mirror holds of each. */
export function symbolsReport({ source, mirror, symbols }: Catalogue): ListReport {
  const rows = symbols.map(symbol => {
    const held = INTERVALS.map(interval => ({
      interval,
      windows: mirror.cachedStartDates({ symbol, interval }).length,
    }))
    const mirrored = held.filter(({ windows }) => windows > 0)
    return {
      symbol,
      intervals: mirrored.map(({ interval }) => interval),
      windows: mirrored.reduce((sum, one) => sum + one.windows, 0),
    }
  })
  return {
    json: {
      source,
      mirror: mirror.root,
      symbols: rows.map(({ symbol, intervals, windows }) => ({ symbol, mirrored: { intervals, windows } })),
    },
    text: () =>
      textTable(
        ['symbol', 'mirrored windows', 'mirrored intervals'],
        rows.map(({ symbol, intervals, windows }) => [symbol, formatCount(windows), intervals.join(' ') || '-']),
        ['mirrored windows'],
      ),
  }
}

/** `intervals`: how each is cut into windows, since when, and what the mirror holds. */
export function intervalsReport({ source, mirror, symbols, startDates }: Catalogue): ListReport {
  const rows = [...startDates].map(([interval, dates]) => ({
    interval,
    windowLength: windowLength(interval),
    firstStartDate: dates.at(0) ?? null,
    lastStartDate: dates.at(-1) ?? null,
    windows: dates.length,
    mirrored: symbols.reduce((sum, symbol) => sum + mirror.cachedStartDates({ symbol, interval }).length, 0),
  }))
  return {
    json: { source, mirror: mirror.root, intervals: rows },
    text: () =>
      textTable(
        ['interval', 'a window', 'first', 'last', 'windows', 'mirrored (all symbols)'],
        rows.map(row => [
          row.interval,
          row.windowLength,
          row.firstStartDate ?? '-',
          row.lastStartDate ?? '-',
          row.windows,
          formatCount(row.mirrored),
        ]),
        ['windows', 'mirrored (all symbols)'],
      ),
  }
}

/** `start-dates`: every window of an interval, and which symbols the mirror holds of it. */
export function startDatesReport({ source, mirror, symbols, startDates }: Catalogue, interval: Interval): ListReport {
  const held = symbols.map(symbol => ({ symbol, dates: new Set(mirror.cachedStartDates({ symbol, interval })) }))
  const rows = (startDates.get(interval) ?? []).map(startDate => ({
    startDate,
    endDate: formatDate(windowSpan({ interval, startDate }).endTime),
    mirrored: held.filter(({ dates }) => dates.has(startDate)).map(({ symbol }) => symbol),
  }))
  return {
    json: { source, mirror: mirror.root, interval, windowLength: windowLength(interval), startDates: rows },
    text: () =>
      textTable(
        ['start', 'end (left out)', 'mirrored'],
        rows.map(({ startDate, endDate, mirrored }) => [
          startDate,
          endDate,
          mirrored.length === symbols.length ? 'all' : mirrored.join(' ') || '-',
        ]),
      ),
  }
}
