import { type RecordBatch, RecordBatchStreamWriter } from 'apache-arrow'
import {
  Compression,
  EnabledStatistics,
  Table,
  transformParquetStream,
  type WriterProperties,
  WriterPropertiesBuilder,
} from 'parquet-wasm'
import type { KlineBatch } from '../../klines/batch/kline-batch.js'
import type { OutputColumn, RowFormat } from '../row-format.js'
import { arrowSchema, RecordBatchBuilder } from './arrow-batches.js'
import type { Exporter, ExporterOptions } from './exporter.js'
import { IpcBytes } from './ipc-bytes.js'

/** Rows passed to the writer at once: 100,000 would cost 283 MB inside it, and no less time. */
const ROWS_PER_BATCH = 4096
const ROWS_PER_GROUP = 100_000

/**
 * Columns with few distinct values. On the others a dictionary makes the file larger (43 MB instead of 29) and slower to
 * write, because market data hardly repeats.
 */
const DICTIONARY_COLUMNS: readonly OutputColumn[] = ['symbol', 'interval', 'ignore']

/**
 * Writes Apache Parquet: zstd, statistics for every column, nothing nullable, row groups of 100,000 rows, encodings that every
 * reader knows. The same rows give the same bytes.
 */
export class ParquetExporter implements Exporter {
  private readonly records: RecordBatchBuilder
  private readonly input: WritableStreamDefaultWriter
  private readonly output: Promise<void>

  constructor({ rowFormat, metadata, stats, emit }: ExporterOptions) {
    const schema = arrowSchema(rowFormat, metadata)
    const { readable, writable } = new TransformStream()
    this.input = writable.getWriter()
    this.records = new RecordBatchBuilder({ rowFormat, stats }, schema, ROWS_PER_BATCH, record =>
      this.input.write(copyToWasm(record)),
    )
    this.output = emitAll(readable, properties(rowFormat, schema.metadata, metadata.version), emit)
    // A failed write to the file also fails `write`, which would wait for ever otherwise.
    this.output.catch(error => this.input.abort(error).catch(() => {}))
    this.input.closed.catch(() => {})
  }

  write(batch: KlineBatch): Promise<void> {
    return this.records.add(batch)
  }

  async end(): Promise<void> {
    await this.records.end()
    // The output comes first: its failure is the reason why the input cannot be closed.
    await Promise.all([this.output, this.input.close()])
  }

  abort(): void {
    this.input.abort().catch(() => {})
  }
}

/** Passes on the bytes of the file that parquet-wasm makes of record batches. */
async function emitAll(
  records: ReadableStream,
  writerProperties: WriterProperties,
  emit: ExporterOptions['emit'],
): Promise<void> {
  const file: ReadableStream<Uint8Array> = await transformParquetStream(records, writerProperties)
  for await (const chunk of file) await emit(chunk)
}

/** A copy of a record batch in the memory of parquet-wasm, which frees it. */
function copyToWasm(record: RecordBatch) {
  const bytes = new IpcBytes()
  const ipc = new RecordBatchStreamWriter()
  ipc.reset(bytes as never, record.schema)
  ipc.write(record)
  ipc.close()
  const table = Table.fromIPCStream(bytes.take())
  try {
    return table.recordBatch(0)
  } finally {
    table.free()
  }
}

function properties({ columns }: RowFormat, metadata: Map<string, string>, version: string): WriterProperties {
  let builder = new WriterPropertiesBuilder()
    .setCompression(Compression.ZSTD)
    .setStatisticsEnabled(EnabledStatistics.Chunk)
    .setMaxRowGroupSize(ROWS_PER_GROUP)
    .setDictionaryEnabled(false)
    .setCreatedBy(`klines version ${version}`)
    .setKeyValueMetadata(metadata)
  for (const column of columns)
    if (DICTIONARY_COLUMNS.includes(column)) builder = builder.setColumnDictionaryEnabled(column, true)
  return builder.build()
}
