import {
  AsyncByteQueue,
  makeData,
  RecordBatch,
  RecordBatchFileWriter,
  RecordBatchWriter,
  type Schema,
  Struct,
} from 'apache-arrow'
import type { KlineBatch } from '../../rows/kline-batch.js'
import { ColumnFiller } from '../columns.js'
import type { Exporter, ExporterOptions } from '../exporter.js'
import { type ArrowColumn, arrowSchema, createArrowColumn } from './columns.js'

/** Rows of a record batch in the file: some 11 MB. */
const ROWS_PER_BATCH = 65_536

/** Writes an Arrow IPC file (also known as Feather V2): record batches of exactly so many rows, but for the last one. */
export class ArrowExporter implements Exporter {
  private readonly bytes = new IpcBytes()
  private readonly file = new FileWriter()
  private readonly schema: Schema
  private readonly columns: readonly ArrowColumn[]
  private readonly filler: ColumnFiller

  constructor(private readonly options: ExporterOptions) {
    const { rowFormat, metadata, stats } = options
    this.schema = arrowSchema(rowFormat, metadata)
    this.file.reset(this.bytes as never, this.schema)
    this.columns = rowFormat.columns.map(name => createArrowColumn(name, rowFormat.numbers, ROWS_PER_BATCH, stats))
    this.filler = new ColumnFiller(this.columns, ROWS_PER_BATCH, rows => this.writeRecord(rows))
  }

  /** Throws `digits_lost` when a decimal has no exact DECIMAL(38,8). */
  write(batch: KlineBatch): Promise<void> {
    return this.filler.add(batch)
  }

  async end(): Promise<void> {
    await this.filler.end()
    this.file.close()
    await this.options.emit(this.bytes.take())
  }

  private writeRecord(length: number): Promise<void> {
    const { fields } = this.schema
    const children = this.columns.map((column, index) =>
      makeData({ type: fields[index].type, length, nullCount: 0, ...column.buffers(length) } as never),
    )
    const data = makeData({ type: new Struct(fields), length, nullCount: 0, children })
    this.file.write(new RecordBatch(this.schema, data))
    return this.options.emit(this.bytes.take())
  }
}

/**
 * Arrow's own file writer leaves out the schema message before the first batch. The format requires it, and without it a file
 * cannot be read as a stream.
 */
class FileWriter extends RecordBatchFileWriter {
  protected override _writeSchema(schema: Schema): this {
    super._writeSchema(schema)
    // biome-ignore lint/complexity/useLiteralKeys: a protected method cannot be reached by its plain name
    return RecordBatchWriter.prototype['_writeSchema'].call(this, schema) as this
  }
}

/**
 * The bytes that an Arrow IPC writer writes: a sink for its `reset` that returns them when asked. The writer's own queue can
 * only be read asynchronously, and has no bound.
 */
class IpcBytes extends AsyncByteQueue {
  private parts: Uint8Array[] = []

  override write(part: Uint8Array): void {
    if (part.byteLength > 0) this.parts.push(new Uint8Array(part.buffer, part.byteOffset, part.byteLength))
  }

  /** A copy of all bytes written since the last call. */
  take(): Uint8Array {
    const bytes = Buffer.concat(this.parts)
    this.parts = []
    return bytes
  }
}
