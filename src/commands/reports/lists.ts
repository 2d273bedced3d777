import { EXCHANGE_INTERVALS, type Interval } from '../../candles/intervals.js'
import { formatDate, windowLength, windowSpan } from '../../candles/windows.js'
import { report, tableOf } from '../../cli/report.js'
import { mirror, sum } from '../../cli/reports/fields.js'
import { column, count, derived, list, maybe, object, oneOf, text } from '../../cli/schema.js'
import { textTable } from '../../cli/terminal/table.js'
import type { Catalogue } from '../../engine/catalogue.js'

/** Windows up to today, and what the mirror has of them. */

const lists = {
  listsFrom: derived(
    oneOf(['service', 'mirror'], 'mirror: the service could not be reached'),
    (all: Catalogue) => all.source,
  ),
  mirror: derived(mirror, (all: Catalogue) => all.mirror.root),
}

const symbol = column('symbol', text())
const cached = {
  windows: column('cached windows', count()),
  intervals: column('cached intervals', list(text())),
}

/** `symbols`. */
export const Symbols = report(
  'klines-symbols',
  { ...lists, symbols: derived(list(object({ symbol, mirrored: object(cached) })), symbolRows) },
  (all: Catalogue) => {
    const rows = symbolRows(all).map(({ symbol, mirrored }) => ({ symbol, ...mirrored }))
    return textTable(tableOf({ symbol, ...cached }, rows))
  },
)

function symbolRows({ mirror, symbols }: Catalogue) {
  // The exchange has thousands of symbols, and most have no folder to look into.
  const cached = new Set(mirror.symbols())
  return symbols.map(symbol => {
    if (!cached.has(symbol)) return { symbol, mirrored: { intervals: [], windows: 0 } }
    const counts = EXCHANGE_INTERVALS.map(interval => mirror.dates({ symbol, interval }).length)
    return {
      symbol,
      mirrored: { intervals: EXCHANGE_INTERVALS.filter((_, index) => counts[index] > 0), windows: sum(counts) },
    }
  })
}

const length = text('such as 7 days')
const interval = {
  interval: column('interval', text()),
  windowLength: column('window length', length),
  firstStartDate: column('first', maybe(text())),
  lastStartDate: column('last', maybe(text())),
  windows: column('windows', count('start dates of the list')),
  mirrored: column('cached (all symbols)', count('cached windows of all symbols')),
}

/** `intervals`: how each is cut into windows, and since when. */
export const Intervals = report(
  'klines-intervals',
  { ...lists, intervals: derived(list(object(interval)), intervalRows) },
  (all: Catalogue) => textTable(tableOf(interval, intervalRows(all))),
)

function intervalRows(all: Catalogue) {
  return [...all.startDates.keys()].map(interval => {
    const dates = startedDates(all, interval)
    return {
      ...{ interval, windowLength: windowLength(interval) },
      ...{ firstStartDate: dates.at(0), lastStartDate: dates.at(-1), windows: dates.length },
      mirrored: sum(all.symbols.map(symbol => all.mirror.dates({ symbol, interval }).length)),
    }
  })
}

/** The windows that have begun. */
function startedDates({ startDates }: Catalogue, interval: Interval): readonly string[] {
  const today = formatDate(Date.now())
  return (startDates.get(interval) ?? []).filter(date => date <= today)
}

/** The lists of one interval. */
type IntervalCatalogue = Catalogue & { readonly interval: Interval }

const window = {
  startDate: column('start', text()),
  endDate: column('end (exclusive)', text('which is not part of the window')),
  mirrored: list(text(), 'symbols whose window is cached'),
}

/** `start-dates`: every window of an interval, and which symbols the mirror has of it. */
export const StartDates = report(
  'klines-start-dates',
  {
    ...lists,
    interval: text(),
    windowLength: derived(length, ({ interval }: IntervalCatalogue) => windowLength(interval)),
    startDates: derived(list(object(window)), windowRows),
  },
  (all: IntervalCatalogue) => {
    const isAll = ({ mirrored }: { mirrored: readonly string[] }) => mirrored.length === all.symbols.length
    const cached = derived(column('cached', text()), (row: { mirrored: readonly string[] }) => {
      return isAll(row) ? 'all' : row.mirrored.join(' ') || '-'
    })
    return textTable(tableOf({ ...window, cached }, windowRows(all)))
  },
)

function windowRows(all: IntervalCatalogue) {
  const { interval, mirror, symbols } = all
  const cached = symbols.map(symbol => ({ symbol, dates: new Set(mirror.dates({ symbol, interval })) }))
  return startedDates(all, interval).map(startDate => ({
    startDate,
    endDate: formatDate(windowSpan({ interval, startDate }).endTime),
    mirrored: cached.filter(({ dates }) => dates.has(startDate)).map(({ symbol }) => symbol),
  }))
}
