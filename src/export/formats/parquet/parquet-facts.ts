import type { SchemaElement } from 'hyparquet'
import { METADATA_KEY } from '../exporter.js'
import { type FileFacts, MAX_FOOTER_BYTES, nameColumn, type ReadAt } from '../file-facts.js'
import { createdBy, findColumnType } from './schema.js'

/** Length and magic bytes at the end of a file. */
const END_BYTES = 8

/** Reads the footer of a Parquet file of `size` bytes. Throws for a file that is none. */
export async function readParquetFacts(readAt: ReadAt, size: number): Promise<FileFacts> {
  const length = (await readAt(size - END_BYTES, END_BYTES)).readUInt32LE()
  if (length > Math.min(MAX_FOOTER_BYTES, size - END_BYTES)) throw new Error(`its footer has ${length} bytes`)
  const { parquetMetadata } = await import('hyparquet')
  const footer = parquetMetadata(await readAt(size - END_BYTES - length, length + END_BYTES), { geoparquet: false })
  const [{ num_children: count }, ...columns] = footer.schema
  return {
    columns: count === columns.length ? columns.map(describeElement) : [],
    rows: Number(footer.num_rows),
    isWrittenBy: version => footer.created_by === createdBy(version),
    metadata: footer.key_value_metadata?.find(({ key }) => key === METADATA_KEY)?.value,
  }
}

function describeElement(element: SchemaElement): string {
  return nameColumn(element.name, findColumnType(element))
}
