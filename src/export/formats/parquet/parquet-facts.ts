import type { SchemaElement } from 'hyparquet'
import { METADATA_KEY } from '../exporter.js'
import { type FileFacts, nameColumn, type ReadAt } from '../file-facts.js'
import { readFooter } from './footer.js'
import { createdBy, findColumnType } from './schema.js'

/** Reads the footer of a Parquet file of `size` bytes. Throws for a file that is none. */
export async function readParquetFacts(readAt: ReadAt, size: number): Promise<FileFacts> {
  const footer = await readFooter(readAt, size)
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
