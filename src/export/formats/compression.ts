import zlib from 'node:zlib'

/** How the pages of a Parquet file are compressed. */
export const COMPRESSIONS = ['zstd', 'gzip', 'snappy', 'none'] as const
export type Compression = (typeof COMPRESSIONS)[number]

/** Whether this Node has zstd: 22.15 and later 22, 23.8 and later. */
export function hasZstd(): boolean {
  return 'zstdCompress' in zlib
}

/** The compression of Parquet where none is requested. */
export function defaultCompression(): Compression {
  return hasZstd() ? 'zstd' : 'gzip'
}
