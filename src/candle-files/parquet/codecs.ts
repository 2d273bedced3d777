import zlib from 'node:zlib'
import { type CompressionCodec, snappyUncompress } from 'hyparquet'
import { hasZstd } from '../../export/row-format.js'

/** The bytes of a page, of which its header says how many there are. */
type Unpack = (bytes: Uint8Array, length: number) => Uint8Array

/** How the pages of each compression that is read are unpacked. */
export type Codecs = Readonly<Partial<Record<CompressionCodec, Unpack>>>

/** What unpacks pages, with the names that Parquet has for it. */
export async function loadCodecs(): Promise<Codecs> {
  return {
    UNCOMPRESSED: bytes => bytes,
    SNAPPY: unpackSnappy,
    GZIP: (bytes, maxOutputLength) => zlib.gunzipSync(bytes, { maxOutputLength }),
    ZSTD: await loadZstd(),
  }
}

/** The types of this project are those of Node 20, which has no zstd: there a library unpacks it. */
async function loadZstd(): Promise<Unpack> {
  if (hasZstd()) {
    const { zstdDecompressSync } = zlib as unknown as { zstdDecompressSync: typeof zlib.gunzipSync }
    return (bytes, maxOutputLength) => zstdDecompressSync(bytes, { maxOutputLength })
  }
  const { decompress } = await import('fzstd')
  return (bytes, length) => decompress(bytes, new Uint8Array(length))
}

function unpackSnappy(bytes: Uint8Array, length: number): Uint8Array {
  checkLiterals(bytes)
  const page = new Uint8Array(length)
  snappyUncompress(bytes, page)
  return page
}

/** The library goes back for a literal of more than 2 GB, and would never end. */
function checkLiterals(bytes: Uint8Array): void {
  let at = 0
  while (bytes[at] >= 128) at++
  at++
  while (at < bytes.length) {
    const [kind, size] = [bytes[at] & 3, bytes[at] >>> 2]
    // A copy has the length in its tag, and a place of 1, 2 or 4 bytes.
    const extra = kind === 0 ? Math.max(0, size - 59) : [0, 1, 2, 4][kind]
    let length = kind === 0 && extra === 0 ? size + 1 : 0
    if (kind === 0 && extra > 0) {
      for (let i = extra; i > 0; i--) length = length * 256 + (bytes[at + i] ?? 0)
      length++
    }
    at += 1 + extra + length
    if (at > bytes.length) throw new Error('a page of snappy is cut off')
  }
}
