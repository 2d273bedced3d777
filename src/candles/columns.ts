/** The twelve elements of a row, in order, with the names in the header of the exchange's archive files. */
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

export type Column = (typeof COLUMNS)[number]

/** The kind of an element: ms UTC, a count, a decimal as text, or the unused text at the end. */
export type ColumnKind = 'time' | 'count' | 'decimal' | 'text'

export const COLUMN_KINDS: readonly ColumnKind[] = COLUMNS.map(name => {
  if (name === 'open_time' || name === 'close_time') return 'time'
  if (name === 'count') return 'count'
  return name === 'ignore' ? 'text' : 'decimal'
})

export const ROW_LENGTH = COLUMNS.length

/** A row as `JSON.parse` returns it from a window file. */
export type KlineRow = CellsOf<typeof COLUMNS>

type CellsOf<Names extends readonly string[]> = { -readonly [Index in keyof Names]: CellOf<Names[Index]> }
type CellOf<Name> = Name extends 'open_time' | 'close_time' | 'count' ? number : string

/** A row as an object with the names of the columns: times in ms UTC, decimals as text. */
export type KlineObject = { readonly [Name in Column]: CellOf<Name> }

/** A row as an object whose decimals are numbers: of one with more than 15 digits the last ones can be lost. Times in ms UTC. */
export type KlineNumbers = {
  readonly [name in Column]: name extends 'ignore' ? string : number
}

export function rowToObject(row: KlineRow): KlineObject {
  return Object.fromEntries(COLUMNS.map((name, column) => [name, row[column]])) as KlineObject
}

export function rowToNumbers(row: KlineRow): KlineNumbers {
  const cells = COLUMN_KINDS.map((kind, column) => (kind === 'decimal' ? Number(row[column]) : row[column]))
  return Object.fromEntries(COLUMNS.map((name, column) => [name, cells[column]])) as KlineNumbers
}
