import { type DataType, Decimal, Field, Float64, Int64, Schema, Timestamp, TimeUnit, Utf8 } from 'apache-arrow'
import { COLUMNS } from '../../candles/columns.js'
import type { NumberType, OutputColumn, SeriesColumn } from '../../options/output-options.js'
import { DECIMAL_PRECISION, DECIMAL_SCALE } from '../../rows/decimals.js'
import { OFFSETS_PER_ROW } from '../../rows/wasm/assembly/layout.js'
import type { BatchRows, Column } from '../columns.js'
import { type ExportStats, type FileMetadata, METADATA_KEY, metadataText } from '../exporter.js'
import { createNumberColumn } from '../number-columns.js'
import { type ColumnType, columnType, isSeriesColumn, type RowFormat } from '../row-format.js'

/** The buffers of a column as Arrow's `makeData` takes them. */
interface ArrowBuffers {
  readonly data: ArrayBufferView
  readonly valueOffsets?: Int32Array
}

/** One column of a record batch that is being filled. Its buffers are used again for every record batch. */
export interface ArrowColumn extends Column {
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
export function createArrowColumn(
  name: OutputColumn,
  numbers: NumberType,
  rows: number,
  stats: ExportStats,
): ArrowColumn {
  const column = createNumberColumn(name, { numbers, endian: 'little' }, rows, stats)
  if (column === undefined) {
    return isSeriesColumn(name) ? new SeriesNameColumn(name, rows) : new TextColumn(COLUMNS.indexOf(name), rows)
  }
  return {
    append: (rows, start, end, to) => column.append(rows, start, end, to),
    buffers: length => ({ data: column.take(length).bytes }),
  }
}

/**
 * The Arrow schema of an export: times TIMESTAMP(ms, UTC), count INT64, decimals as `numbers` asks, the rest UTF-8; nothing
 * nullable.
 */
export function arrowSchema(rowFormat: RowFormat, metadata: FileMetadata): Schema {
  const { columns, numbers } = rowFormat
  return new Schema(
    columns.map(name => new Field(name, TYPES[columnType(name, numbers)], false)),
    new Map([[METADATA_KEY, metadataText(metadata)]]),
  )
}

const TYPES: Record<ColumnType, DataType> = {
  time: new Timestamp(TimeUnit.MILLISECOND, 'UTC'),
  count: new Int64(),
  double: new Float64(),
  decimal: new Decimal(DECIMAL_SCALE, DECIMAL_PRECISION, 128),
  text: new Utf8(),
}
