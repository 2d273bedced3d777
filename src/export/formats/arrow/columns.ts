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
import { COLUMNS } from '../../../klines/columns.js'
import { OFFSETS_PER_ROW } from '../../../klines/kernel/assembly/layout.js'
import type { NumberType, OutputColumn, SeriesColumn } from '../../../options/output-options.js'
import { type ColumnType, columnType, isSeriesColumn, type RowFormat } from '../../row-format.js'
import { type BatchRows, type Column, type FixedColumn, IntegerColumn, toBatchRows } from '../columns.js'
import { DecimalColumn, DoubleColumn } from '../decimal-columns.js'
import { describeFile, type ExporterOptions, type ExportStats, type FileMetadata, METADATA_KEY } from '../exporter.js'

/** The buffers of a column as Arrow's `makeData` takes them. */
interface ArrowBuffers {
  readonly data: ArrayBufferView
  readonly valueOffsets?: Int32Array
}

/** One column of a record batch that is being filled. Its buffers are used again for every record batch. */
interface ArrowColumn extends Column {
  /** The first `length` values. */
  buffers(length: number): ArrowBuffers
}

/** Text as Arrow's UTF-8: offsets and bytes. */
abstract class Utf8Column implements ArrowColumn {
  private readonly ends: Int32Array
  private text: Buffer

  constructor(rows: number) {
    this.ends = new Int32Array(rows + 1)
    this.text = Buffer.allocUnsafeSlow(24 * rows)
  }

  abstract append(rows: BatchRows, start: number, end: number, to: number): void

  buffers(length: number): ArrowBuffers {
    const valueOffsets = this.ends.subarray(0, length + 1)
    return { valueOffsets, data: this.text.subarray(0, this.ends[length]) }
  }

  /** Writes `bytes[start, end)` as the value at index `to`; indexes come in order. */
  protected put(bytes: Uint8Array, start: number, end: number, to: number): void {
    const from = this.ends[to]
    const last = from + end - start
    if (last > this.text.length) {
      const larger = Buffer.allocUnsafeSlow(2 * last)
      this.text.copy(larger, 0, 0, from)
      this.text = larger
    }
    for (let i = 0; i < end - start; i++) this.text[from + i] = bytes[start + i]
    this.ends[to + 1] = last
  }
}

/** Cells as the source has them. */
class TextColumn extends Utf8Column {
  constructor(
    private readonly column: number,
    rows: number,
  ) {
    super(rows)
  }

  append({ batch: { bytes, offsets } }: BatchRows, start: number, end: number, to: number): void {
    for (let row = start; row < end; row++) {
      const cell = row * OFFSETS_PER_ROW + 2 * this.column
      this.put(bytes, offsets[cell], offsets[cell + 1], to + row - start)
    }
  }
}

/** The symbol or the interval of each row. */
class SeriesNameColumn extends Utf8Column {
  constructor(
    private readonly name: SeriesColumn,
    rows: number,
  ) {
    super(rows)
  }

  append({ batch: { series } }: BatchRows, start: number, end: number, to: number): void {
    const name = Buffer.from(series[this.name])
    for (let row = start; row < end; row++) this.put(name, 0, name.length, to + row - start)
  }
}

/** The column of that name, with room for `rows` values. */
function createArrowColumn(name: OutputColumn, numbers: NumberType, rows: number, stats: ExportStats): ArrowColumn {
  if (isSeriesColumn(name)) return new SeriesNameColumn(name, rows)
  const column = COLUMNS.indexOf(name)
  const type = columnType(name, numbers)
  if (type === 'text') return new TextColumn(column, rows)
  if (type === 'double') return fixed(new DoubleColumn(column, rows, stats))
  return fixed(type === 'decimal' ? new DecimalColumn(column, rows, 'little') : new IntegerColumn(name, rows))
}

function fixed(column: FixedColumn<number | bigint>): ArrowColumn {
  return {
    append: (rows, start, end, to) => column.append(rows, start, end, to),
    buffers: length => ({ data: column.take(length).bytes }),
  }
}

/**
 * The Arrow schema of an export: times TIMESTAMP(ms, UTC), count INT64, decimals as `numbers` asks, the rest UTF-8; nothing
 * nullable. `rows`: their number, for the end of a file.
 */
export function arrowSchema(rowFormat: RowFormat, metadata: FileMetadata, rows?: number): Schema {
  const { columns, numbers } = rowFormat
  return new Schema(
    columns.map(name => new Field(name, TYPES[columnType(name, numbers)], false)),
    new Map([[METADATA_KEY, describeFile(metadata, rowFormat, rows === undefined ? {} : { rows })]]),
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
