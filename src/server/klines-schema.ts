import Type, { type TSchema } from 'typebox'
import { COLUMNS, type KlineRow } from '../klines/columns.js'
import { type Interval, isMinutes } from '../klines/intervals.js'
import { intervalSegment } from '../klines/paths.js'
import type { SymbolName } from '../klines/symbols.js'

/** The objects of the klines service as JSON Schema, for its OpenAPI description. */

/** Of ASCII only A-Z and 0-9. Not every reader of a schema knows `\p{L}`, for letters of any script. */
const NAME = '^[^\\x00-/:-@\\[-\\x7f]{2,40}$'

/** Schema of a symbol: one of `symbols`, or any name when they are not known. */
export function symbolSchema(symbols?: readonly SymbolName[]): TSchema {
  const details = { $id: 'Symbol', description: 'Trading pair' }
  if (symbols) return Type.Enum([...symbols], { ...details, type: 'string' })
  return Type.String({
    ...details,
    description:
      'Trading pair: letters and digits of any script, in upper case, composed (NFC), at most 40 bytes of UTF-8',
    pattern: NAME,
    examples: ['BTCUSDT'],
  })
}

/** Schema of an interval. `names`: as people write them, or as paths have them. */
export function intervalSchema(names: readonly string[]): TSchema {
  return Type.Enum([...names], {
    $id: 'Interval',
    type: 'string',
    description: 'Length of a candle; 1M is a calendar month',
  })
}

/** Schema of the startDates of an interval: any day for 1m, 3m and 5m. */
export function startDateSchema(interval: Interval, startDates: readonly string[]): TSchema {
  const details = {
    $id: `StartDate${intervalSegment(interval)}`,
    format: 'date',
    description: `First day of a ${interval} window, UTC`,
  }
  return isMinutes(interval) ? Type.String(details) : Type.Enum([...startDates], { ...details, type: 'string' })
}

const TIME = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
const DECIMAL = { type: 'string', pattern: '^\\d+(\\.\\d+)?$' }

/** The elements of a row, in order. */
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

const EXAMPLE: KlineRow = [
  1735689600000,
  '2000.00000000',
  '2010.50000000',
  '1995.25000000',
  '2004.00000000',
  '150.25000000',
  1735693199999,
  '301101.00000000',
  1200,
  '75.00000000',
  '150300.00000000',
  '0',
]

/** A tuple as in JSON Schema 2020-12, which OpenAPI 3.1 uses. */
export const KlineSchema = Type.Unsafe<KlineRow>({
  $id: 'Kline',
  description: 'A candle, as the exchange lays it out',
  type: 'array',
  prefixItems: ELEMENTS.map((element, index) => ({ title: COLUMNS[index], ...element })),
  items: false,
  minItems: ELEMENTS.length,
  maxItems: ELEMENTS.length,
  examples: [EXAMPLE],
})
