import { table } from '../../cli/report.js'
import { coverageText } from '../../cli/reports/coverage.js'
import { coverage, mirror } from '../../cli/reports/fields.js'
import { column, count, day, decimal, text, time } from '../../cli/schema.js'
import type { StatsReport } from '../../verify/stats.js'

/** `stats`: statistics of series, exact. */
export const Stats = table(
  'klines-stats',
  { mirror },
  'series',
  {
    symbol: column('symbol', text()),
    interval: column('interval', text()),
    candles: column('candles', count()),
    firstOpenTime: column('first (UTC)', day()),
    lastOpenTime: column('last (UTC)', time()),
    gaps: count(),
    firstPrice: column('first price', decimal()),
    lastPrice: column('last price', decimal()),
    lowest: column('lowest', decimal()),
    highest: column('highest', decimal()),
    volume: column('volume', decimal()),
    quoteVolume: column('quote volume', decimal()),
    takerBuyVolume: decimal(),
    takerBuyQuoteVolume: decimal(),
    trades: column('trades', count()),
    missing: column('missing', count('candles missing in the gaps')),
    largestGap: column('largest gap', count('candles missing in the largest gap')),
    coverage,
  },
  {
    keys: 2,
    groups: [
      ['candles', 'first (UTC)', 'last (UTC)', 'missing', 'largest gap'],
      ['first price', 'last price', 'lowest', 'highest'],
      ['volume', 'quote volume', 'trades'],
    ],
    below: ({ series, range, baseUrl }: StatsReport) => coverageText(series, { range, baseUrl, verbose: true }),
  },
)
