import { promisify } from 'node:util'
import zlib from 'node:zlib'
import type { CompressionCodec } from 'hyparquet'
import { snappyCompress } from 'hyparquet-writer/src/snappy.js'
import pLimit from 'p-limit'
import type { Compression } from '../../options/output-options.js'
import { hasZstd } from '../row-format.js'

/** The level of zstd and gzip: the next ones take up to twice the time, for files that are 0 to 7 % smaller. */
const LEVEL = 1
/** zlib collects a page in buffers of this size, and passes through its threads once for each. */
const CHUNK_BYTES = 64 * 1024

/** Pages that are compressed at once: libuv has four threads for this, and each page takes memory of its own. */
const PAGES_AT_ONCE = 4

/** Compresses the bytes of pages. */
export interface PageCodec {
  readonly name: CompressionCodec
  /** Calls of zlib run in the threads of libuv: several pages at once use several cores. */
  compress(bytes: Uint8Array): Promise<Uint8Array>
}

/** The codec of a compression that this Node has. */
export function pageCodec(compression: Compression): PageCodec {
  if (compression === 'none') return { name: 'UNCOMPRESSED', compress: async bytes => bytes }
  if (compression === 'snappy') return { name: 'SNAPPY', compress: async bytes => snappyCompress(bytes) }
  const [name, compress] =
    compression === 'gzip' ? (['GZIP', gzipPage] as const) : (['ZSTD', zstdCompressor()] as const)
  const limit = pLimit(PAGES_AT_ONCE)
  return { name, compress: bytes => limit(compress, bytes) }
}

const gzip = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.gzip)

function gzipPage(bytes: Uint8Array): Promise<Uint8Array> {
  return gzip(bytes, { level: LEVEL, chunkSize: CHUNK_BYTES })
}

/** The types of this project are those of Node 20, which has no zstd. */
interface ZstdZlib {
  readonly constants: { readonly ZSTD_c_compressionLevel: number }
  zstdCompress(bytes: Uint8Array, options: object, callback: (error: Error | null, bytes: Buffer) => void): void
}

function zstdCompressor(): PageCodec['compress'] {
  if (!hasZstd()) throw new Error(`Node ${process.version} has no zstd`)
  const { zstdCompress, constants } = zlib as unknown as ZstdZlib
  const zstd = promisify(zstdCompress)
  const params = { [constants.ZSTD_c_compressionLevel]: LEVEL }
  // Without the size, zstd takes the parameters of long streams, and files become larger by a fifth.
  return bytes => zstd(bytes, { params, pledgedSrcSize: bytes.length, chunkSize: CHUNK_BYTES })
}
