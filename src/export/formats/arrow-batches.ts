import {
  Decimal,
  Field,
  Float64,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Timestamp,
  TimeUnit,
  Utf8,
} from 'apache-arrow'
import { DECIMAL_PRECISION, DECIMAL_SCALE } from '../../klines/batch/decimals.js'
import type { KlineBatch } from '../../klines/batch/kline-batch.js'
import { COLUMN_KINDS, COLUMNS } from '../../klines/columns.js'
import { isSeriesColumn, type OutputColumn, type RowFormat } from '../row-format.js'
import {
  type ArrowColumn,
  DecimalColumn,
  DoubleColumn,
  IntegerColumn,
  SeriesNameColumn,
  TextColumn,
} from './arrow-columns.js'
import type { ExportStats, FileMetadata } from './exporter.js'

/** Name and version of the columns below, as files say it. */
const SCHEMA_NAME = 'klines/1'

/**
 * The Arrow schema of an export: times TIMESTAMP(ms, UTC), count INT64, decimals as `numbers` says, the rest UTF-8;
 * nothing nullable. The facts stand under one key, `klines`, as JSON: Parquet writers order several keys at random.
 */
export function arrowSchema({ columns, numbers }: RowFormat, facts: FileMetadata): Schema {
  const { version, ...rest } = facts
  const klines = JSON.stringify({
    ...rest,
    schema: SCHEMA_NAME,
    version: `klines ${version}`,
  })
  return new Schema(
    columns.map(name => new Field(name, arrowType(name, numbers), false)),
    new Map([['klines', klines]]),
  )
}

function arrowType(name: OutputColumn, numbers: RowFormat['numbers']) {
  const kind = isSeriesColumn(name) ? 'text' : COLUMN_KINDS[COLUMNS.indexOf(name)]
  if (kind === 'time') return new Timestamp(TimeUnit.MILLISECOND, 'UTC')
  if (kind === 'count') return new Int64()
  if (kind === 'text' || numbers === 'text') return new Utf8()
  return numbers === 'double' ? new Float64() : new Decimal(DECIMAL_SCALE, DECIMAL_PRECISION, 128)
}

/**
 * The rows of batches as Arrow record batches of exactly `rows` rows (the last one may be shorter), however the input is
 * cut: the bytes of a file depend on its rows alone. A record batch shares buffers with the next one and is good only
 * until that is asked for. Throws `digits_lost` when a decimal has no exact DECIMAL(38,8).
 */
export async function* recordBatches(
  batches: AsyncIterable<KlineBatch>,
  shape: RowFormat,
  schema: Schema,
  rows: number,
  notes: ExportStats,
): AsyncGenerator<RecordBatch> {
  const columns = shape.columns.map(name => createColumn(name, shape.numbers, rows, notes))
  let filled = 0
  const flush = () => {
    const children = columns.map((column, index) => column.data(schema.fields[index].type, filled))
    const record = new RecordBatch(
      schema,
      makeData({
        type: new Struct(schema.fields),
        length: filled,
        nullCount: 0,
        children,
      }),
    )
    filled = 0
    return record
  }
  for await (const batch of batches) {
    for (let start = 0; start < batch.length; ) {
      const end = Math.min(batch.length, start + rows - filled)
      for (const column of columns) column.append(batch, start, end, filled)
      filled += end - start
      start = end
      if (filled === rows) yield flush()
    }
  }
  if (filled > 0) yield flush()
}

function createColumn(
  name: OutputColumn,
  numbers: RowFormat['numbers'],
  rows: number,
  notes: ExportStats,
): ArrowColumn {
  if (isSeriesColumn(name)) return new SeriesNameColumn(name, rows)
  const column = COLUMNS.indexOf(name)
  const kind = COLUMN_KINDS[column]
  if (kind === 'time') return new IntegerColumn(column === 0 ? 0 : 1, rows)
  if (kind === 'count') return new IntegerColumn(2, rows)
  if (kind === 'text' || numbers === 'text') return new TextColumn(column, rows)
  return numbers === 'double' ? new DoubleColumn(column, rows, notes) : new DecimalColumn(column, rows)
}
