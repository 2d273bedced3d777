import type { FileHandle } from 'node:fs/promises'
import type { ColumnType } from '../row-format.js'

/** What a Parquet or Arrow file is, whatever its metadata says. */
export interface FileFacts {
  /** Name and type of each column, `open_time time`; another type has no name. */
  readonly columns: readonly string[]
  readonly rows: number
  /** Whether klines of a version wrote it, as far as files of its format tell. */
  readonly isWrittenBy: (version: string) => boolean
  /** The text of its metadata of klines, if it has some. */
  readonly metadata: string | undefined
}

/** Bytes of a file at an offset. Throws when it has fewer. */
export type ReadAt = (offset: number, length: number) => Promise<Buffer>

/** Reads an open file. */
export function readerOf(file: FileHandle): ReadAt {
  return async (offset, length) => {
    const bytes = Buffer.alloc(length)
    const { bytesRead } = await file.read(bytes, 0, length, Math.max(0, offset))
    if (bytesRead < length || offset < 0) throw new Error('it ends too early')
    return bytes
  }
}

/** A larger footer is not read: that of 200 million rows has 4 MB. */
export const MAX_FOOTER_BYTES = 8 * 1024 * 1024

/** A column as facts have it. */
export function nameColumn(name: string, type: ColumnType | undefined): string {
  return type === undefined ? name : `${name} ${type}`
}
