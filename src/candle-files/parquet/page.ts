import type { CompressionCodec, DecodedArray, PageHeader, SchemaElement } from 'hyparquet'
import { readPage } from 'hyparquet/src/column.js'
import { DEFAULT_PARSERS } from 'hyparquet/src/convert.js'
import type { Codecs } from './codecs.js'
import { checkValues, countPresent, viewOf } from './page-values.js'

/** Larger pages are refused before they are read; those of other programs have up to some MB. */
export const MAX_PAGE_BYTES = 32 * 1024 * 1024
/** Pages of klines have 20,000 values; those of other programs have up to a row group of 262,144 rows. */
const MAX_PAGE_VALUES = 256 * 1024

/** A page that may be healthy, but takes too much memory. */
export class LargePage extends Error {}

/** How the values of a column are stored. */
export interface ColumnValues {
  readonly element: SchemaElement
  readonly codec: CompressionCodec
}

/** The number of values of a page. Throws for a header that cannot be, or of a page that is too large. */
export function countValues(header: PageHeader): number {
  const { data_page_header_v2: v2, compressed_page_size: packed, uncompressed_page_size: size } = header
  const values = {
    DATA_PAGE: header.data_page_header?.num_values,
    DATA_PAGE_V2: v2?.num_values,
    DICTIONARY_PAGE: header.dictionary_page_header?.num_values,
    INDEX_PAGE: 0,
  }[header.type]
  checkNumber(packed, Number.POSITIVE_INFINITY, 'bytes')
  checkNumber(size, Number.POSITIVE_INFINITY, 'bytes')
  checkNumber(values, Number.POSITIVE_INFINITY, 'values')
  checkSize(Math.max(packed, size), MAX_PAGE_BYTES, 'bytes')
  checkSize(values, MAX_PAGE_VALUES, 'values')
  if (header.type !== 'DATA_PAGE_V2' || v2 === undefined) return values
  checkNumber(v2.num_nulls, values, 'nulls')
  checkNumber(v2.repetition_levels_byte_length, 0, 'bytes of repetitions')
  checkNumber(v2.definition_levels_byte_length, Math.min(packed, size), 'bytes of nulls')
  return values
}

function checkNumber(value: number | undefined, most: number, what: string): asserts value is number {
  if (value !== undefined && Number.isInteger(value) && value >= 0 && value <= most) return
  throw new Error(`a page has ${value ?? 'no number of'} ${what}, expected ${most === 0 ? 0 : `at most ${most}`}`)
}

function checkSize(value: number, most: number, what: string): void {
  if (value > most) throw new LargePage(`a page has ${value} ${what}, expected at most ${most}`)
}

/**
 * The values of a page as they are stored. `countValues` has checked its header; its content is checked before the library decodes it.
 * Throws for a damaged page.
 */
export function decodePage(
  bytes: Uint8Array,
  header: PageHeader,
  { element, codec }: ColumnValues,
  codecs: Codecs,
  dictionary: DecodedArray | undefined,
): DecodedArray {
  const page = unpackPage(bytes, header, codecs[codec])
  checkPage(page, header, element, dictionary !== undefined)
  const v2 = header.data_page_header_v2
  const plain = {
    ...header,
    compressed_page_size: page.length,
    uncompressed_page_size: page.length,
    data_page_header_v2: v2 && { ...v2, is_compressed: false },
  }
  const path = [{ name: 'root' }, element].map(element => ({ element, children: [], count: 1, path: [] }))
  const decoder = {
    pathInSchema: [element.name],
    schemaPath: path,
    element,
    type: element.type ?? 'BYTE_ARRAY',
    codec: 'UNCOMPRESSED' as const,
    parsers: DEFAULT_PARSERS,
    utf8: false,
  }
  return readPage({ view: viewOf(page), offset: 0 }, plain, decoder, dictionary, undefined, 0).data ?? []
}

/** The bytes of a page in a buffer of their own: the library looks beyond their end. */
function unpackPage(bytes: Uint8Array, header: PageHeader, unpack: Codecs[CompressionCodec]): Uint8Array {
  if (unpack === undefined) throw new Error('its compression is unknown')
  const v2 = header.type === 'DATA_PAGE_V2' ? header.data_page_header_v2 : undefined
  const levels = v2?.definition_levels_byte_length ?? 0
  const rest = header.uncompressed_page_size - levels
  const packed = bytes.subarray(levels)
  const isPacked = v2?.is_compressed !== false && rest > 0
  const values = isPacked ? unpack(packed, rest) : packed
  if (values.length !== rest) throw new Error(`a page has ${values.length} bytes, expected ${rest}`)
  if (levels === 0 && values.length === values.buffer.byteLength) return values
  const page = new Uint8Array(levels + rest)
  page.set(bytes.subarray(0, levels))
  page.set(values, levels)
  return page
}

/** Throws for a page whose content the library cannot be trusted with. */
function checkPage(page: Uint8Array, header: PageHeader, element: SchemaElement, hasDictionary: boolean): void {
  if (header.type === 'DICTIONARY_PAGE') return
  const { data_page_header: v1, data_page_header_v2: v2 } = header
  const of = header.type === 'DATA_PAGE' ? v1 : v2
  if (of === undefined) throw new Error('a page lacks its header')
  if (of.encoding?.endsWith('_DICTIONARY') && !hasDictionary) throw new Error('a page lacks its dictionary')
  checkValues({ encoding: of.encoding, bytes: page, ...findValues(page, header, element) }, MAX_PAGE_BYTES)
}

/** Where the values of a data page start, after what tells which are null, and how many there are without these. */
function findValues(page: Uint8Array, header: PageHeader, { repetition_type }: SchemaElement) {
  const isOptional = repetition_type !== 'REQUIRED'
  const { data_page_header: v1, data_page_header_v2: v2 } = header
  if (header.type === 'DATA_PAGE') {
    const values = v1?.num_values ?? 0
    if (!isOptional) return { start: 0, count: values }
    return { start: 4 + viewOf(page).getUint32(0, true), count: countPresent(page, 4, values) }
  }
  const { num_values: values = 0, num_nulls: nulls = 0, definition_levels_byte_length: start = 0 } = v2 ?? {}
  if (isOptional) countPresent(page, 0, values)
  else if (start > 0) throw new Error('a page tells which values are null, expected none of these')
  return { start, count: values - nulls }
}
