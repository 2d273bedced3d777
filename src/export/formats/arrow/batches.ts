import {
  type DataType,
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
import { DECIMAL_PRECISION, DECIMAL_SCALE } from '../../../klines/batch/decimals.js'
import type { KlineBatch } from '../../../klines/batch/kline-batch.js'
import type { RowFormat } from '../../row-format.js'
import { type ColumnType, columnType } from '../../row-format.js'
import { toBatchRows } from '../columns.js'
import { describeFile, type ExporterOptions, type FileMetadata, METADATA_KEY } from '../exporter.js'
import { type ArrowColumn, createArrowColumn } from './columns.js'

/**
 * The Arrow schema of an export: times TIMESTAMP(ms, UTC), count INT64, decimals as `numbers` asks, the rest UTF-8; nothing
 * nullable.
 */
export function arrowSchema({ columns, numbers }: RowFormat, metadata: FileMetadata): Schema {
  return new Schema(
    columns.map(name => new Field(name, TYPES[columnType(name, numbers)], false)),
    new Map([[METADATA_KEY, describeFile(metadata)]]),
  )
}

const TYPES: Record<ColumnType, DataType> = {
  time: new Timestamp(TimeUnit.MILLISECOND, 'UTC'),
  count: new Int64(),
  double: new Float64(),
  decimal: new Decimal(DECIMAL_SCALE, DECIMAL_PRECISION, 128),
  text: new Utf8(),
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
    this.columns = rowFormat.columns.map(name => createArrowColumn(name, rowFormat.numbers, rows, stats))
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
    const children = this.columns.map((column, index) =>
      makeData({ type: schema.fields[index].type, length, nullCount: 0, ...column.buffers(length) } as never),
    )
    this.filled = 0
    const data = makeData({ type: new Struct(schema.fields), length, nullCount: 0, children })
    await this.write(new RecordBatch(schema, data))
  }
}
