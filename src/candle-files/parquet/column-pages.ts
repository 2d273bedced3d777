import type { DecodedArray, PageHeader } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import type { ReadAt } from '../../export/formats/file-facts.js'
import { checkThrift } from '../../export/formats/parquet/thrift.js'
import type { CellReader } from '../cells.js'
import type { Codecs } from './codecs.js'
import { type ColumnValues, countValues, decodePage } from './page.js'
import { viewOf } from './page-values.js'

/** The header of a page has some 100 bytes. */
const HEADER_BYTES = 16 * 1024

/** A column of a row group, as the metadata of the file describes it. */
export interface ColumnChunk extends ColumnValues {
  /** Where its pages start and end in the file. */
  readonly start: number
  readonly end: number
  readonly rows: number
}

/** A page, and where its bytes are in the file. */
interface Page {
  readonly header: PageHeader
  readonly offset: number
  readonly values: number
}

/**
 * Reads the values of a column of a row group, some at once. Each page is checked before the library decodes it, because that reserves
 * what the page claims. Between two reads only places are kept: the values of a page take many times the memory of its bytes.
 */
export class ColumnPages {
  /** Where the next header is. */
  private next: number
  /** The rows for which no page was found yet. */
  private rest: number
  private dictionary: Page | undefined
  private page: Page | undefined
  /** How many values of the page were read. */
  private taken = 0

  constructor(
    private readonly readAt: ReadAt,
    private readonly codecs: Codecs,
    private readonly chunk: ColumnChunk,
  ) {
    this.next = chunk.start
    this.rest = chunk.rows
  }

  /** The next `count` values as cells. Throws where pages are damaged, or have another number of values. */
  async read(count: number, toCell: CellReader): Promise<unknown[]> {
    const cells: unknown[] = []
    while (cells.length < count) {
      this.page ??= await this.findPage()
      const values = await this.decode(this.page)
      const end = Math.min(values.length, this.taken + count - cells.length)
      for (; this.taken < end; this.taken++) cells.push(toCell(values[this.taken]))
      if (end < values.length) continue
      this.page = undefined
      this.taken = 0
    }
    // A page after the last row has too many values.
    while (this.rest === 0 && this.next < this.chunk.end) await this.readHeader()
    return cells
  }

  private async findPage(): Promise<Page> {
    while (true) {
      const page = await this.readHeader()
      if (page.header.type === 'DICTIONARY_PAGE') this.dictionary = page
      else if (page.values > 0) return page
    }
  }

  /** The page at the next header. */
  private async readHeader(): Promise<Page> {
    const { end, rows } = this.chunk
    if (this.next >= end) throw new Error(`it has ${rows - this.rest} values, expected ${rows}`)
    const bytes = await this.readAt(this.next, Math.min(HEADER_BYTES, end - this.next))
    checkThrift(bytes)
    const reader = { view: viewOf(bytes), offset: 0 }
    const header = parquetHeader(reader)
    const values = countValues(header)
    const offset = this.next + reader.offset
    this.next = offset + header.compressed_page_size
    if (this.next > end) throw new Error('a page is cut off')
    if (header.type === 'DICTIONARY_PAGE') return { header, offset, values }
    if (values > this.rest) throw new Error(`a page has ${values} values, expected at most ${this.rest}`)
    this.rest -= values
    return { header, offset, values }
  }

  private async decode(page: Page): Promise<DecodedArray> {
    const dictionary = this.dictionary && (await this.decodePage(this.dictionary, undefined))
    const values = await this.decodePage(page, dictionary)
    if (values.length === page.values) return values
    throw new Error(`a page has ${values.length} values, expected ${page.values}`)
  }

  private async decodePage({ header, offset }: Page, dictionary: DecodedArray | undefined): Promise<DecodedArray> {
    const bytes = await this.readAt(offset, header.compressed_page_size)
    return decodePage(bytes, header, this.chunk, this.codecs, dictionary)
  }
}
