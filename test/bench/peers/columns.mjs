/** The columns of an export of several series, in order. */
export const COLUMNS = [
  'symbol',
  'interval',
  'open_time',
  'open',
  'high',
  'low',
  'close',
  'volume',
  'close_time',
  'quote_volume',
  'count',
  'taker_buy_volume',
  'taker_buy_quote_volume',
  'ignore',
]
export const TIMES = ['open_time', 'close_time']

/** The type of a column: `text`, `time`, `count` or `decimal`. */
export function kindOf(column) {
  if (['symbol', 'interval', 'ignore'].includes(column)) return 'text'
  if (TIMES.includes(column)) return 'time'
  return column === 'count' ? 'count' : 'decimal'
}
