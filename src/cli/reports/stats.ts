import type { SeriesStats } from '../../klines/audit/stats.js'
import type { Mirror } from '../../mirror/mirror.js'
import type { TableReport } from '../terminal/table.js'
import { formatTime } from '../terminal/text.js'

/** `stats`: figures of series, exact. */
export function statsReport(mirror: Mirror, series: readonly SeriesStats[]): { json: object; table: TableReport } {
  const figures = [
    'candles',
    'first price',
    'last price',
    'lowest',
    'highest',
    'volume',
    'quote volume',
    'trades',
    'missing',
    'largest gap',
  ]
  const [candles, ...rest] = figures
  return {
    json: { mirror: mirror.root, series: series.map(({ rows, ...one }) => nullsFor({ candles: rows, ...one })) },
    table: {
      head: ['symbol', 'interval', candles, 'first (UTC)', 'last (UTC)', ...rest],
      rows: series.map(one => [
        one.symbol,
        one.interval,
        one.rows,
        formatTime(one.firstOpenTime),
        formatTime(one.lastOpenTime),
        one.firstPrice ?? '-',
        one.lastPrice ?? '-',
        one.lowest ?? '-',
        one.highest ?? '-',
        one.volume ?? '-',
        one.quoteVolume ?? '-',
        one.trades,
        one.missing,
        one.largestGap,
      ]),
      right: figures,
    },
  }
}

/** JSON has no undefined. */
function nullsFor(object: object): object {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, value ?? null]))
}
