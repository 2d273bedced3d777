import { promisify } from 'node:util'
import zlib from 'node:zlib'
import type {
  ColumnMetaData,
  CompressionCodec,
  Encoding,
  PageHeader,
  RowGroup as RowGroupMetadata,
  SchemaElement,
} from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { snappyCompress } from 'hyparquet-writer/src/snappy.js'
import pMap from 'p-map'
import type { Compression } from '../../options.js'
import type { Bound, EncodedValues, Page } from './columns.js'

/** The level of zstd and gzip: the next ones take up to twice the time, for files that are 0 to 7 % smaller. */
const LEVEL = 1
/** Of the buffers of zlib, which passes through its threads once for each. */
const CHUNK_BYTES = 128 * 1024
/** Pages that are compressed at once: libuv has four threads for this, and each page takes memory of its own. */
const PAGES_AT_ONCE = 4

export interface PageCodec {
  readonly name: CompressionCodec
  compress(bytes: Uint8Array): Promise<Uint8Array>
}

/** The types of this project are those of Node 20, which has no zstd. */
interface ZstdZlib {
  readonly constants: { readonly ZSTD_c_compressionLevel: number }
  zstdCompress(bytes: Uint8Array, options: object, callback: (error: Error | null, bytes: Buffer) => void): void
}

export function pageCodec(compression: Compression): PageCodec {
  if (compression === 'none') return { name: 'UNCOMPRESSED', compress: async bytes => bytes }
  if (compression === 'snappy') return { name: 'SNAPPY', compress: async bytes => snappyCompress(bytes) }
  if (compression === 'gzip') {
    const gzip = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.gzip)
    return { name: 'GZIP', compress: bytes => gzip(bytes, { level: LEVEL, chunkSize: CHUNK_BYTES }) }
  }
  const { zstdCompress, constants } = zlib as unknown as ZstdZlib
  const zstd = promisify(zstdCompress)
  const params = { [constants.ZSTD_c_compressionLevel]: LEVEL }
  // Without the size, zstd takes the parameters of long streams, and files become larger by a fifth.
  const options = (bytes: Uint8Array) => ({ params, pledgedSrcSize: bytes.length, chunkSize: CHUNK_BYTES })
  return { name: 'ZSTD', compress: bytes => zstd(bytes, options(bytes)) }
}

/** The pages of one column in one row group. */
class ColumnChunk {
  /** Header and compressed values of each page. */
  private readonly pages: Uint8Array[] = []
  private readonly encodings = new Set<Encoding>(['PLAIN', 'RLE'])
  private uncompressedSize = 0
  private values = 0
  private min: Bound | undefined
  private max: Bound | undefined

  constructor(
    private readonly element: SchemaElement,
    private readonly codec: PageCodec,
  ) {}

  /** The next page may be added when the promise has resolved. */
  async add({ bytes, encoding, values, min, max }: Page): Promise<void> {
    // Nothing is nullable and nothing repeats, so there are no levels; the header has to name their encoding all the same.
    const levels = { definition_level_encoding: 'RLE', repetition_level_encoding: 'RLE' } as const
    const header = { num_values: values, encoding, ...levels }
    this.pages.push(await this.encode(bytes, { type: 'DATA_PAGE', data_page_header: header }))
    this.encodings.add(encoding)
    this.values += values
    if (this.min === undefined || min < this.min) this.min = min
    if (this.max === undefined || max > this.max) this.max = max
  }

  /** The bytes of the chunk, and what the footer says about them at `offset` of the file. */
  async finish(offset: number, dictionary: EncodedValues | undefined) {
    const header = { num_values: dictionary?.values ?? 0, encoding: 'PLAIN' } as const
    const page = { type: 'DICTIONARY_PAGE', dictionary_page_header: header } as const
    const first = dictionary && (await this.encode(dictionary.bytes, page))
    const bytes = Buffer.concat(first ? [first, ...this.pages] : this.pages)
    const [min, max] = [this.min, this.max].map(bound =>
      typeof bound === 'string' ? Buffer.from(bound, 'latin1') : bound,
    )
    // Old readers know only these two, whose order of texts is not defined.
    const old = this.element.type === 'BYTE_ARRAY' ? {} : { min, max }
    const metadata: ColumnMetaData = {
      type: this.element.type as NonNullable<SchemaElement['type']>,
      encodings: [...this.encodings],
      path_in_schema: [this.element.name],
      codec: this.codec.name,
      num_values: BigInt(this.values),
      total_uncompressed_size: BigInt(this.uncompressedSize),
      total_compressed_size: BigInt(bytes.length),
      data_page_offset: BigInt(offset + (first?.length ?? 0)),
      dictionary_page_offset: first && BigInt(offset),
      statistics: { ...old, min_value: min, max_value: max, null_count: 0n },
    }
    return { bytes, metadata }
  }

  private async encode(
    bytes: Uint8Array,
    header: Omit<PageHeader, 'uncompressed_page_size' | 'compressed_page_size'>,
  ): Promise<Uint8Array> {
    const compressed = await this.codec.compress(bytes)
    const writer = new ByteWriter(64)
    const sizes = { uncompressed_page_size: bytes.length, compressed_page_size: compressed.length }
    writePageHeader(writer, { ...header, ...sizes })
    const head = writer.getBytes()
    this.uncompressedSize += head.length + bytes.length
    return Buffer.concat([head, compressed])
  }
}

export class RowGroup {
  rows = 0
  private readonly chunks: readonly ColumnChunk[]

  constructor(schema: readonly SchemaElement[], codec: PageCodec) {
    this.chunks = schema.map(element => new ColumnChunk(element, codec))
  }

  async add(pages: readonly Page[], rows: number): Promise<void> {
    this.rows += rows
    await pMap(this.chunks, (chunk, index) => chunk.add(pages[index]), { concurrency: PAGES_AT_ONCE })
  }

  /** Writes all chunks from `offset` of the file on. Returns what the footer says about them. */
  async write(
    offset: number,
    dictionaries: readonly (EncodedValues | undefined)[],
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
