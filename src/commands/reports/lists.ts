import { EXCHANGE_INTERVALS, type Interval } from '../../candles/intervals.js'
import { formatDate, windowLength, windowSpan } from '../../candles/windows.js'
import { coverage, coverageText, mirror, noTradeSince, seriesName, sum } from '../../cli/fields.js'
import * as s from '../../cli/report.js'
import type { Catalogue } from '../../engine/lists.js'
import { shortSentences } from '../../rows/coverage.js'
import type { FundingRate } from '../../sources/source.js'
import type { StatsReport } from '../../verify/stats.js'

const lists = {
  listsFrom: s.derived(
    s.oneOf(['service', 'mirror'], 'mirror: the service could not be reached'),
    (all: Catalogue) => all.source,
  ),
  mirror: s.derived(mirror, (all: Catalogue) => all.mirror.root),
}

const { symbol, interval } = seriesName
type SymbolRow = ReturnType<typeof symbolRows>[number]

export const Symbols = s.table(
  'klines-symbols',
  lists,
  'symbols',
  { symbol, mirrored: s.object({ windows: s.count(), intervals: s.list(s.text()) }) },
  symbolRows,
  {
    shown: {
      symbol,
      windows: s.column('cached windows', s.count(), ({ mirrored }: SymbolRow) => mirrored.windows),
      intervals: s.column('cached intervals', s.list(s.text()), ({ mirrored }: SymbolRow) => mirrored.intervals),
    },
  },
)

function symbolRows({ mirror, symbols }: Catalogue) {
  // The exchange has thousands of symbols, and most have no folder to look into.
  const cached = new Set(mirror.symbols())
  return symbols.map(symbol => {
    const countOf = (interval: Interval) => (cached.has(symbol) ? mirror.dates({ symbol, interval }).length : 0)
    const intervals = EXCHANGE_INTERVALS.filter(interval => countOf(interval) > 0)
    return { symbol, mirrored: { intervals, windows: sum(intervals.map(countOf)) } }
  })
}

const length = s.text('such as 7 days')

export const Intervals = s.table(
  'klines-intervals',
  lists,
  'intervals',
  {
    interval,
    windowLength: s.column('window length', length),
    firstStartDate: s.column('first', s.maybe(s.text())),
    lastStartDate: s.column('last', s.maybe(s.text())),
    windows: s.column('windows', s.count('start dates of the list')),
    mirrored: s.column('cached (all symbols)', s.count('cached windows of all symbols')),
  },
  (all: Catalogue) =>
    [...all.startDates.keys()].map(interval => {
      const dates = startedDates(all, interval)
      const mirrored = sum(all.symbols.map(symbol => all.mirror.dates({ symbol, interval }).length))
      const ends = { firstStartDate: dates.at(0), lastStartDate: dates.at(-1) }
      return { interval, windowLength: windowLength(interval), ...ends, windows: dates.length, mirrored }
    }),
)

function startedDates({ startDates }: Catalogue, interval: Interval): readonly string[] {
  const today = formatDate(Date.now())
  return (startDates.get(interval) ?? []).filter(date => date <= today)
}

type IntervalCatalogue = Catalogue & { readonly interval: Interval }
type WindowRow = ReturnType<typeof windowRows>[number]

const window = {
  startDate: s.column('start', s.text()),
  endDate: s.column('end (exclusive)', s.text('which is not part of the window')),
  mirrored: s.list(s.text(), 'symbols whose window is cached'),
}

export const StartDates = s.table(
  'klines-start-dates',
  {
    ...lists,
    interval: s.text(),
    windowLength: s.derived(length, ({ interval }: IntervalCatalogue) => windowLength(interval)),
  },
  'startDates',
  window,
  windowRows,
  {
    shown: {
      ...window,
      cached: s.column('cached', s.list(s.text()), ({ mirrored, isAll }: WindowRow) => (isAll ? ['all'] : mirrored)),
    },
  },
)

function windowRows(all: IntervalCatalogue) {
  const { interval, mirror, symbols } = all
  const cached = symbols.map(symbol => ({ symbol, dates: new Set(mirror.dates({ symbol, interval })) }))
  return startedDates(all, interval).map(startDate => {
    const mirrored = cached.flatMap(({ symbol, dates }) => (dates.has(startDate) ? symbol : []))
    const endDate = formatDate(windowSpan({ interval, startDate }).endTime)
    return { startDate, endDate, mirrored, isAll: mirrored.length === symbols.length }
  })
}

export const Stats = s.table(
  'klines-stats',
  { mirror },
  'series',
  {
    ...seriesName,
    candles: s.column('candles', s.count()),
    firstOpenTime: s.column('first (UTC)', s.day()),
    lastOpenTime: s.column('last (UTC)', s.time()),
    gaps: s.count(),
    firstPrice: s.column('first price', s.decimal()),
    lastPrice: s.column('last price', s.decimal()),
    lowest: s.column('lowest', s.decimal()),
    highest: s.column('highest', s.decimal()),
    volume: s.column('volume', s.decimal()),
    quoteVolume: s.column('quote volume', s.decimal()),
    takerBuyVolume: s.decimal(),
    takerBuyQuoteVolume: s.decimal(),
    trades: s.column('trades', s.count()),
    missing: s.column('missing', s.count('candles missing in the gaps')),
    largestGap: s.column('largest gap', s.count('candles missing in the largest gap')),
    coverage,
    noTradeSince,
  },
  ({ series }: StatsReport) => series,
  {
    keys: 2,
    groups: [
      ['candles', 'first (UTC)', 'last (UTC)', 'missing', 'largest gap'],
      ['first price', 'last price', 'lowest', 'highest'],
      ['volume', 'quote volume', 'trades'],
    ],
    below: ({ series, range, baseUrl }: StatsReport) => coverageText(series, { range, baseUrl, verbose: true }),
    lacks: ({ series, range }: StatsReport) => shortSentences(series, range),
  },
)

const served = { ...s.text(), isNumber: true }
const rate = {
  symbol,
  funding_time: s.column('time (UTC)', s.time()),
  funding_rate: s.column('rate', served),
  mark_price: s.column('mark price', served),
  interval_hours: s.column('hours', s.maybe(s.count())),
}

export const Funding = s.table('klines-funding', {}, 'rates', rate, (all: { rates: FundingRate[] }) => all.rates)

/** A file's content. Names and numbers need no quotes in CSV. */
export function encodeFunding(rates: readonly FundingRate[], format: string): string {
  if (format === 'csv') return `${[Object.keys(rate), ...rates.map(Object.values)].join('\n')}\n`
  const lines = rates.map(one => JSON.stringify(one))
  return format === 'json' ? `[${lines.join(',\n')}]\n` : `${lines.join('\n')}\n`
}
