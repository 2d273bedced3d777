import { RecordBatchFileWriter, RecordBatchWriter, type Schema } from 'apache-arrow'
import { arrowSchema, recordBatches } from './arrow-batches.js'
import type { Exporter } from './exporter.js'
import { IpcBytes } from './ipc-bytes.js'

/** Rows of a record batch in the file: some 11 MB. */
const ROWS_PER_BATCH = 65_536

/** An Arrow IPC file (also known as Feather V2), written as it comes. */
export const arrow: Exporter = async function* (batches, shape, facts, notes) {
  const schema = arrowSchema(shape, facts)
  const bytes = new IpcBytes()
  const file = new FileWriter()
  file.reset(bytes as never, schema)
  for await (const record of recordBatches(batches, shape, schema, ROWS_PER_BATCH, notes)) {
    file.write(record)
    yield bytes.take()
  }
  file.close()
  yield bytes.take()
}

/**
 * Arrow's own file writer leaves out the schema message before the first batch, which the format asks for and without
 * which a file cannot be read as a stream.
 */
class FileWriter extends RecordBatchFileWriter {
  protected override _writeSchema(schema: Schema): this {
    super._writeSchema(schema)
    // biome-ignore lint/complexity/useLiteralKeys: protected, and out of reach by its plain name
    return RecordBatchWriter.prototype['_writeSchema'].call(this, schema) as this
  }
}
