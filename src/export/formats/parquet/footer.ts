import type { FileMetaData } from 'hyparquet'
import { MAX_FOOTER_BYTES, type ReadAt } from '../file-facts.js'

/** Length and magic bytes at the end of a file. */
const END_BYTES = 8

/** The metadata of a Parquet file of `size` bytes. Throws for a file that is none, and for metadata above 8 MB. */
export async function readFooter(readAt: ReadAt, size: number): Promise<FileMetaData> {
  const end = await readAt(size - END_BYTES, END_BYTES)
  if (end.toString('latin1', 4) !== 'PAR1') throw new Error('it does not end as a Parquet file does')
  const length = end.readUInt32LE()
  const most = Math.min(MAX_FOOTER_BYTES, size - END_BYTES)
  if (length > most) throw new Error(`its metadata has ${length} bytes, expected at most ${most}`)
  const footer = await readAt(size - END_BYTES - length, length + END_BYTES)
  const { parquetMetadata } = await import('hyparquet')
  return parquetMetadata(footer, { geoparquet: false })
}
