import Type from 'typebox'
import { knownStartDates } from '../klines/calendar.js'
import { COLUMNS, type KlineRow } from '../klines/columns.js'
import type { Interval } from '../klines/intervals.js'
import { SYMBOLS } from '../klines/symbols.js'

/** The objects of the klines service (service.md, "Klines service"), as JSON Schema for its OpenAPI description. */

export const SymbolSchema = Type.Enum([...SYMBOLS], { $id: 'Symbol', type: 'string', description: 'Trading pair' })

/** The startDates of an interval. */
export function startDateSchema(interval: Interval) {
  return Type.Enum(knownStartDates(interval), {
    $id: `StartDate${interval}`,
    type: 'string',
    format: 'date',
    description: `First day of a ${interval} window, UTC`,
  })
}

const TIME = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
const DECIMAL = { type: 'string', pattern: '^\\d+(\\.\\d+)?$' }

/** Elements of a row, in order. */
const ELEMENTS = [
  { ...TIME, description: 'Open time, ms since the epoch, UTC' },
  { ...DECIMAL, description: 'Open price' },
  { ...DECIMAL, description: 'High price' },
  { ...DECIMAL, description: 'Low price' },
  { ...DECIMAL, description: 'Close price' },
  { ...DECIMAL, description: 'Base asset volume' },
  { ...TIME, description: 'Close time, ms since the epoch, UTC' },
  { ...DECIMAL, description: 'Quote asset volume' },
  { ...TIME, description: 'Number of trades' },
  { ...DECIMAL, description: 'Taker buy base asset volume' },
  { ...DECIMAL, description: 'Taker buy quote asset volume' },
  { type: 'string', description: 'Unused legacy field' },
]

/** A tuple of JSON Schema 2020-12, which OpenAPI 3.1 is made of. */
export const KlineSchema = Type.Unsafe<KlineRow>({
  $id: 'Kline',
  description: 'A candle, as the exchange lays it out',
  type: 'array',
  prefixItems: ELEMENTS.map((element, index) => ({ title: COLUMNS[index], ...element })),
  items: false,
  minItems: ELEMENTS.length,
  maxItems: ELEMENTS.length,
})
