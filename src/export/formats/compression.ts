import zlib from 'node:zlib'
import { KlinesError } from '../../klines/errors.js'
import type { Compression } from '../../options/output-options.js'

/** Whether this Node has zstd: 22.15 and later 22, 23.8 and later. */
export function hasZstd(): boolean {
  return 'zstdCompress' in zlib
}

/** The compression of Parquet: the requested one, else the best that this Node has. Throws `bad_option` for one that it lacks. */
export function toCompression(requested: Compression | undefined): Compression {
  if (requested !== 'zstd' || hasZstd()) return requested ?? (hasZstd() ? 'zstd' : 'gzip')
  throw new KlinesError('bad_option', `\`compression: 'zstd'\` is not in Node ${process.versions.node}.`, {
    suggestions: ["Use `compression: 'gzip'`, or run klines with Node 22.15 or later."],
  })
}
