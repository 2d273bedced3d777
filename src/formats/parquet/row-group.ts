import type {
  ColumnMetaData,
  Encoding,
  PageHeader,
  RowGroup as RowGroupMetadata,
  SchemaElement,
  Statistics,
} from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import type { Bound, DictionaryPage, Page } from './columns.js'
import type { PageCodec } from './compression.js'

/** A page as it lies in the file. */
interface EncodedPage {
  /** Header and compressed values. */
  readonly bytes: Uint8Array
  readonly uncompressedSize: number
}

/** The pages of one column in one row group. */
class ColumnChunk {
  private readonly pages: EncodedPage[] = []
  private readonly encodings = new Set<Encoding>(['PLAIN', 'RLE'])
  private values = 0
  private min: Bound | undefined
  private max: Bound | undefined

  constructor(
    private readonly element: SchemaElement,
    private readonly codec: PageCodec,
  ) {}

  /** Compresses a page and adds it. The next one may be added when the promise has resolved. */
  async add({ bytes, encoding, values, min, max }: Page): Promise<void> {
    // Nothing is nullable and nothing repeats, so there are no levels; the header has to name their encoding all the same.
    const levels = { definition_level_encoding: 'RLE', repetition_level_encoding: 'RLE' } as const
    const header = { type: 'DATA_PAGE', data_page_header: { num_values: values, encoding, ...levels } } as const
    this.pages.push(await this.encode(bytes, header))
    this.encodings.add(encoding)
    this.values += values
    if (this.min === undefined || min < this.min) this.min = min
    if (this.max === undefined || max > this.max) this.max = max
  }

  /** The bytes of the chunk, and what the footer says about it when it starts at `offset` of the file. */
  async finish(offset: number, dictionary: DictionaryPage | undefined) {
    const first = dictionary && (await this.encodeDictionary(dictionary))
    const pages = first ? [first, ...this.pages] : this.pages
    const bytes = Buffer.concat(pages.map(page => page.bytes))
    const metadata: ColumnMetaData = {
      type: this.element.type as NonNullable<SchemaElement['type']>,
      encodings: [...this.encodings],
      path_in_schema: [this.element.name],
      codec: this.codec.name,
      num_values: BigInt(this.values),
      total_uncompressed_size: BigInt(pages.reduce((sum, page) => sum + page.uncompressedSize, 0)),
      total_compressed_size: BigInt(bytes.length),
      data_page_offset: BigInt(offset + (first?.bytes.length ?? 0)),
      dictionary_page_offset: first && BigInt(offset),
      statistics: this.statistics(),
    }
    return { bytes, metadata }
  }

  private statistics(): Statistics {
    const [min, max] = [this.min, this.max].map(bound =>
      typeof bound === 'string' ? Buffer.from(bound, 'latin1') : bound,
    )
    // Old readers know only the first two, whose order of texts is not defined.
    const old = this.element.type === 'BYTE_ARRAY' ? {} : { min, max }
    return { ...old, min_value: min, max_value: max, null_count: 0n }
  }

  private encodeDictionary({ bytes, values }: DictionaryPage): Promise<EncodedPage> {
    const header = { num_values: values, encoding: 'PLAIN' } as const
    return this.encode(bytes, { type: 'DICTIONARY_PAGE', dictionary_page_header: header })
  }

  private async encode(
    bytes: Uint8Array,
    header: Omit<PageHeader, 'uncompressed_page_size' | 'compressed_page_size'>,
  ): Promise<EncodedPage> {
    const compressed = await this.codec.compress(bytes)
    const writer = new ByteWriter(64)
    const sizes = { uncompressed_page_size: bytes.length, compressed_page_size: compressed.length }
    writePageHeader(writer, { ...header, ...sizes })
    const head = writer.getBytes()
    return { bytes: Buffer.concat([head, compressed]), uncompressedSize: head.length + bytes.length }
  }
}

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
