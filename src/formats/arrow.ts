import {
  AsyncByteQueue,
  type DataType,
  Decimal,
  Field,
  Float64,
  Int64,
  makeData,
  RecordBatch,
  RecordBatchFileWriter,
  RecordBatchWriter,
  Schema,
  Struct,
  Timestamp,
  TimeUnit,
  Utf8,
} from 'apache-arrow'
import { DECIMAL_SCALE } from '../candles/decimals.js'
import { ColumnExporter, DECIMAL_PRECISION } from './columns.js'
import { type ExporterOptions, METADATA_KEY, metadataText } from './exporter.js'
import { type ColumnType, columnType } from './row-format.js'
import { RunColumn, spreadRuns } from './text-columns.js'

/** Rows of a record batch in the file: some 11 MB. */
const ROWS_PER_BATCH = 65_536

const TYPES: Record<ColumnType, DataType> = {
  time: new Timestamp(TimeUnit.MILLISECOND, 'UTC'),
  count: new Int64(),
  double: new Float64(),
  decimal: new Decimal(DECIMAL_SCALE, DECIMAL_PRECISION, 128),
  text: new Utf8(),
}

/** Writes an Arrow IPC file (Feather V2): record batches of exactly so many rows, but for the last one. Nothing is nullable. */
export class ArrowExporter extends ColumnExporter {
  private readonly bytes = new IpcBytes()
  private readonly file = new FileWriter()
  private readonly schema: Schema

  constructor(private readonly options: ExporterOptions) {
    super(options, 'little', ROWS_PER_BATCH)
    const { columns, numbers } = options.rowFormat
    this.schema = new Schema(
      columns.map(name => new Field(name, TYPES[columnType(name, numbers)], false)),
      new Map([[METADATA_KEY, metadataText(options.metadata)]]),
    )
    this.file.reset(this.bytes as never, this.schema)
  }

  protected flush(length: number): Promise<void> {
    const { fields } = this.schema
    const children = this.columns.map((column, index) => {
      const values = column instanceof RunColumn ? spreadRuns(column.take(), length) : column.take(length)
      const buffers = 'ends' in values ? { data: values.bytes, valueOffsets: values.ends } : { data: values.bytes }
      return makeData({ type: fields[index].type, length, nullCount: 0, ...buffers } as never)
    })
    const data = makeData({ type: new Struct(fields), length, nullCount: 0, children })
    this.file.write(new RecordBatch(this.schema, data))
    return this.options.emit(this.bytes.take())
  }

  protected finish(): Promise<void> {
    this.file.close()
    return this.options.emit(this.bytes.take())
  }
}

/** Writes the schema message before the first batch, which the format requires and Arrow's own writer leaves out. */
class FileWriter extends RecordBatchFileWriter {
  protected override _writeSchema(schema: Schema): this {
    super._writeSchema(schema)
    // biome-ignore lint/complexity/useLiteralKeys: a protected method cannot be reached by its plain name
    return RecordBatchWriter.prototype['_writeSchema'].call(this, schema) as this
  }
}

/** A sink for the bytes of an Arrow IPC writer, whose own queue can only be read asynchronously and has no bound. */
class IpcBytes extends AsyncByteQueue {
  private parts: Uint8Array[] = []

  override write(part: Uint8Array): void {
    if (part.byteLength > 0) this.parts.push(new Uint8Array(part.buffer, part.byteOffset, part.byteLength))
  }

  /** A copy of all bytes since the last call. */
  take(): Uint8Array {
    const bytes = Buffer.concat(this.parts)
    this.parts = []
    return bytes
  }
}
