import { type RecordBatch, RecordBatchStreamWriter } from 'apache-arrow'
import {
  Compression,
  EnabledStatistics,
  Table,
  transformParquetStream,
  type WriterProperties,
  WriterPropertiesBuilder,
} from 'parquet-wasm'
import type { OutputColumn, RowFormat } from '../row-format.js'
import { arrowSchema, recordBatches } from './arrow-batches.js'
import type { Exporter } from './exporter.js'
import { IpcBytes } from './ipc-bytes.js'

/** Rows handed to the writer at once: more costs memory inside it (100k: 283 MB in all) and no less time. */
const ROWS_PER_BATCH = 4096
const ROWS_PER_GROUP = 100_000

/**
 * Columns with few distinct values. On the others a dictionary makes the file larger (43 MB instead of 29) and slower to
 * write: market data hardly repeats.
 */
const FEW_VALUES: readonly OutputColumn[] = ['symbol', 'interval', 'ignore']

/**
 * Apache Parquet: zstd, statistics for every column, nothing nullable, row groups of 100,000 rows, encodings that every
 * reader knows. Written as it comes; the same rows give the same bytes.
 */
export const parquet: Exporter = async function* (batches, shape, facts, notes) {
  const schema = arrowSchema(shape, facts)
  const records = recordBatches(batches, shape, schema, ROWS_PER_BATCH, notes)
  const input = new FailingStream(records)
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  try {
    const output: ReadableStream<Uint8Array> = await transformParquetStream(
      input.stream,
      properties(shape, schema.metadata, facts.version),
    )
    reader = output.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      // The writer swallows what its input threw and ends the file as if it were whole.
      if (input.failure) throw input.failure.error
      if (done) return
      yield value
    }
  } catch (error) {
    throw input.failure ? input.failure.error : error
  } finally {
    reader?.cancel().catch(() => {})
    await records.return(undefined)
  }
}

/** Record batches as the stream of batches in WebAssembly memory that the writer takes, one at a time when it asks. */
class FailingStream {
  /** What the input threw, if it did. */
  failure: { error: unknown } | undefined
  readonly stream: ReadableStream

  constructor(records: AsyncIterator<RecordBatch>) {
    const wasm = new WasmBatches()
    this.stream = new ReadableStream(
      {
        pull: async controller => {
          try {
            const { done, value } = await records.next()
            if (done) controller.close()
            else controller.enqueue(wasm.copy(value))
          } catch (error) {
            this.failure = { error }
            controller.error(error)
          }
        },
      },
      { highWaterMark: 0 },
    )
  }
}

/** Copies of record batches in the writer's memory; the writer frees them. */
class WasmBatches {
  private readonly bytes = new IpcBytes()

  copy(record: RecordBatch) {
    const ipc = new RecordBatchStreamWriter()
    ipc.reset(this.bytes as never, record.schema)
    ipc.write(record)
    ipc.close()
    const table = Table.fromIPCStream(this.bytes.takeBriefly())
    try {
      return table.recordBatch(0)
    } finally {
      table.free()
    }
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
    if (FEW_VALUES.includes(column)) builder = builder.setColumnDictionaryEnabled(column, true)
  return builder.build()
}
