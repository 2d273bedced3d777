import type { RowGroup as RowGroupMetadata, SchemaElement } from 'hyparquet'
import { ColumnChunk } from './column-chunk.js'
import type { PageCodec } from './compression.js'
import type { DictionaryPage, Page } from './page.js'

/** Consecutive rows of a file: a chunk for each column. */
export class RowGroup {
  rows = 0
  private readonly chunks: readonly ColumnChunk[]

  constructor(schema: readonly SchemaElement[], codec: PageCodec) {
    this.chunks = schema.map(element => new ColumnChunk(element, codec))
  }

  /** Compresses a page of each column, all at once. */
  async add(pages: readonly Page[], rows: number): Promise<void> {
    this.rows += rows
    await Promise.all(this.chunks.map((chunk, index) => chunk.add(pages[index])))
  }

  /** Writes all chunks from `offset` of the file on. Returns what the footer says about the row group. */
  async write(
    offset: number,
    dictionaries: readonly (DictionaryPage | undefined)[],
    emit: (bytes: Uint8Array) => Promise<void>,
  ): Promise<RowGroupMetadata> {
    let [end, uncompressed] = [offset, 0n]
    const columns = []
    for (const [index, chunk] of this.chunks.entries()) {
      const { bytes, metadata } = await chunk.finish(end, dictionaries[index])
      await emit(bytes)
      columns.push({ file_offset: BigInt(end), meta_data: metadata })
      end += bytes.length
      uncompressed += metadata.total_uncompressed_size
    }
    return {
      columns,
      num_rows: BigInt(this.rows),
      total_byte_size: uncompressed,
      file_offset: BigInt(offset),
      total_compressed_size: BigInt(end - offset),
    }
  }
}
