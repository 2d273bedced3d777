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
import { type ArrowColumn, IntegerColumn, SeriesNameColumn, TextColumn, toBatchRows } from './arrow-columns.js'
import { DecimalColumn, DoubleColumn } from './decimal-columns.js'
import type { ExporterOptions, ExportStats, FileMetadata } from './exporter.js'

/** Name and version of the columns below, as files state it. */
const SCHEMA_NAME = 'klines/1'

/**
 * The Arrow schema of an export: times TIMESTAMP(ms, UTC), count INT64, decimals as `numbers` asks, the rest UTF-8; nothing
 * nullable. The metadata is JSON under one key, `klines`, because Parquet writers order several keys at random.
 */
export function arrowSchema({ columns, numbers }: RowFormat, { version, ...metadata }: FileMetadata): Schema {
  const klines = JSON.stringify({ ...metadata, schema: SCHEMA_NAME, version: `klines ${version}` })
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
 * Builds Arrow record batches of exactly `rows` rows (the last one may be shorter), however the input is cut: the bytes of a
 * file depend on its rows alone.
 */
export class RecordBatchBuilder {
  private readonly columns: readonly ArrowColumn[]
  private filled = 0

  /** `write` takes a record batch, which shares its buffers with the next one and so is valid until `write` resolves. */
  constructor(
    { rowFormat, stats }: Pick<ExporterOptions, 'rowFormat' | 'stats'>,
    private readonly schema: Schema,
    private readonly rows: number,
    private readonly write: (record: RecordBatch) => Promise<void>,
  ) {
    this.columns = rowFormat.columns.map(name => createColumn(name, rowFormat.numbers, rows, stats))
  }

  /** Adds the rows of a batch. Throws `digits_lost` when a decimal has no exact DECIMAL(38,8). */
  async add(batch: KlineBatch): Promise<void> {
    for (let start = 0; start < batch.length; ) {
      const end = Math.min(batch.length, start + this.rows - this.filled)
      const rows = toBatchRows(batch)
      for (const column of this.columns) column.append(rows, start, end, this.filled)
      this.filled += end - start
      start = end
      if (this.filled === this.rows) await this.flush()
    }
  }

  /** Writes the rows that are left. */
  async end(): Promise<void> {
    if (this.filled > 0) await this.flush()
  }

  private async flush(): Promise<void> {
    const { schema, filled: length } = this
    const children = this.columns.map((column, index) => column.data(schema.fields[index].type, length))
    this.filled = 0
    const data = makeData({ type: new Struct(schema.fields), length, nullCount: 0, children })
    await this.write(new RecordBatch(schema, data))
  }
}

function createColumn(
  name: OutputColumn,
  numbers: RowFormat['numbers'],
  rows: number,
  stats: ExportStats,
): ArrowColumn {
  if (isSeriesColumn(name)) return new SeriesNameColumn(name, rows)
  const column = COLUMNS.indexOf(name)
  const kind = COLUMN_KINDS[column]
  if (kind === 'time') return new IntegerColumn(column === 0 ? 0 : 1, rows)
  if (kind === 'count') return new IntegerColumn(2, rows)
  if (kind === 'text' || numbers === 'text') return new TextColumn(column, rows)
  return numbers === 'double' ? new DoubleColumn(column, rows, stats) : new DecimalColumn(column, rows)
}
