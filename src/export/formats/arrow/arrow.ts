import { AsyncByteQueue, type RecordBatch, RecordBatchFileWriter, RecordBatchWriter, type Schema } from 'apache-arrow'
import type { KlineBatch } from '../../../klines/batch/kline-batch.js'
import type { Exporter, ExporterOptions } from '../exporter.js'
import { arrowSchema, RecordBatchBuilder } from './columns.js'

/** Rows of a record batch in the file: some 11 MB. */
const ROWS_PER_BATCH = 65_536

/** Writes an Arrow IPC file (also known as Feather V2). */
export class ArrowExporter implements Exporter {
  private readonly bytes = new IpcBytes()
  private readonly file = new FileWriter()
  private readonly records: RecordBatchBuilder
  private rows = 0

  constructor(private readonly options: ExporterOptions) {
    const schema = arrowSchema(options.rowFormat, options.metadata)
    this.file.reset(this.bytes as never, schema)
    this.records = new RecordBatchBuilder(options, schema, ROWS_PER_BATCH, record => this.writeRecord(record))
  }

  write(batch: KlineBatch): Promise<void> {
    return this.records.add(batch)
  }

  async end(): Promise<void> {
    await this.records.end()
    this.file.lastSchema = arrowSchema(this.options.rowFormat, this.options.metadata, this.rows)
    this.file.close()
    await this.options.emit(this.bytes.take())
  }

  private writeRecord(record: RecordBatch): Promise<void> {
    this.rows += record.numRows
    this.file.write(record)
    return this.options.emit(this.bytes.take())
  }
}

/**
 * Arrow's own file writer leaves out the schema message before the first batch. The format requires it, and without it a file
 * cannot be read as a stream.
 */
class FileWriter extends RecordBatchFileWriter {
  /** The schema at the end of the file, whose metadata has what was not known at its start. */
  lastSchema: Schema | undefined

  protected override _writeSchema(schema: Schema): this {
    super._writeSchema(schema)
    // biome-ignore lint/complexity/useLiteralKeys: a protected method cannot be reached by its plain name
    return RecordBatchWriter.prototype['_writeSchema'].call(this, schema) as this
  }

  protected override _writeFooter(schema: Schema): this {
    return super._writeFooter(this.lastSchema ?? schema)
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
