import type { SchemaElement } from 'hyparquet'
import { COLUMNS, type Column } from '../../candles/columns.js'
import type { NumberType, OutputColumn } from '../../options/output-options.js'
import { DECIMAL_PRECISION, DECIMAL_SCALE } from '../../rows/decimals.js'
import type { ExportStats } from '../exporter.js'
import { createNumberColumn } from '../number-columns.js'
import { type ColumnType, columnType, type RowFormat } from '../row-format.js'
import { NumberColumn, type PageColumn, TextColumn } from './columns.js'
import { DictionaryColumn } from './dictionary-column.js'

/**
 * Columns with few distinct values. On the others a dictionary makes the file larger and slower to write, because market data
 * hardly repeats.
 */
const DICTIONARY_COLUMNS: readonly OutputColumn[] = ['symbol', 'interval', 'ignore']

const DECIMAL = { precision: DECIMAL_PRECISION, scale: DECIMAL_SCALE }
const TYPES: Record<ColumnType, Partial<SchemaElement>> = {
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  count: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  decimal: {
    type: 'FIXED_LEN_BYTE_ARRAY',
    type_length: 16,
    converted_type: 'DECIMAL',
    ...DECIMAL,
    logical_type: { type: 'DECIMAL', ...DECIMAL },
  },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
}

/** How Parquet files name the program that wrote them. */
export function createdBy(version: string): string {
  return `klines version ${version}`
}

const REQUIRED = { repetition_type: 'REQUIRED' } as const

/** The columns of a file as Parquet describes them: nothing is nullable. */
export function schemaElements({ columns, numbers }: RowFormat): SchemaElement[] {
  return columns.map(name => ({ name, ...REQUIRED, ...TYPES[columnType(name, numbers)] }))
}

/** A column of that name whose pages have `rows` values. */
export function createPageColumn(
  name: OutputColumn,
  numbers: NumberType,
  rows: number,
  stats: ExportStats,
): PageColumn {
  if (DICTIONARY_COLUMNS.includes(name)) return new DictionaryColumn(name)
  const column = createNumberColumn(name, { numbers, endian: 'big' }, rows, stats)
  return column ? new NumberColumn(column, rows) : new TextColumn(COLUMNS.indexOf(name as Column), rows)
}
