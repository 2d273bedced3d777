/**
 * The twelve elements of a row, in the service's order (service.md, "Kline row") under the exchange's own names
 * (observed.md, the header of its archive files).
 */
export const COLUMNS = [
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
] as const

/** The name of one element of a row. */
export type Column = (typeof COLUMNS)[number]

/** What an element is: ms UTC, a count, a decimal in text, or the unused text at the end. */
export type ColumnKind = 'time' | 'count' | 'decimal' | 'text'

/** The kind of the element at each index. */
export const COLUMN_KINDS: readonly ColumnKind[] = COLUMNS.map(name => {
  if (name === 'open_time' || name === 'close_time') return 'time'
  if (name === 'count') return 'count'
  return name === 'ignore' ? 'text' : 'decimal'
})

/** Elements of a row. */
export const ROW_LENGTH = COLUMNS.length

/** A row as the service writes it and `JSON.parse` reads it. */
export type KlineRow = [
  openTime: number,
  open: string,
  high: string,
  low: string,
  close: string,
  volume: string,
  closeTime: number,
  quoteVolume: string,
  count: number,
  takerBuyVolume: string,
  takerBuyQuoteVolume: string,
  ignore: string,
]
