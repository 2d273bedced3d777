import type { FileHandle } from 'node:fs/promises'
import type { FileMetaData, RowGroup, SchemaElement } from 'hyparquet'
import { METADATA_KEY } from '../../export/formats/exporter.js'
import { readerOf } from '../../export/formats/file-facts.js'
import { readFooter } from '../../export/formats/parquet/footer.js'
import { COLUMNS } from '../../klines/columns.js'
import { SERIES_COLUMNS } from '../../options/output-options.js'
import { type CellReader, checkLength, formatDecimal, ROWS_AT_ONCE } from '../cells.js'
import { badInput, inputError, openInput } from '../errors.js'
import { parseFacts, type RawRow, type RawTable } from '../raw-table.js'
import { type Codecs, loadCodecs } from './codecs.js'
import { type ColumnChunk, ColumnPages } from './column-pages.js'
import { LargePage } from './page.js'

/** The rows of a page that klines writes: its values are unpacked at once. */
const PAGE_ROWS = 20_000
/** The columns that are read: other programs may have added columns of any type. */
const READ_COLUMNS: readonly string[] = [...SERIES_COLUMNS, ...COLUMNS].filter(name => name !== 'ignore')
/** How cells of candles are stored; doubles are refused elsewhere. */
const READ_TYPES: readonly unknown[] = ['INT32', 'INT64', 'BYTE_ARRAY', 'FIXED_LEN_BYTE_ARRAY']
/** A decimal of 76 digits, the longest that programs know, has 32 bytes. */
const MAX_FIXED_BYTES = 32

/** A Parquet file, also one that another program has written again. Throws `bad_input` and `damaged_input`. */
export async function openParquet(file: string): Promise<RawTable> {
  const handle = await openInput(file)
  try {
    const metadata = await readFooter(readerOf(handle), (await handle.stat()).size)
    checkCounts(metadata)
    const elements = topElements(metadata.schema)
    const columns = elements.filter(({ name }) => READ_COLUMNS.includes(name))
    const entry = metadata.key_value_metadata?.find(({ key }) => key === METADATA_KEY)
    return {
      columns: columns.map(({ name }) => name),
      facts: parseFacts(entry?.value),
      doubles: elements.filter(({ type }) => type === 'DOUBLE' || type === 'FLOAT').map(({ name }) => name),
      rows: () => readRows(file, metadata, columns),
    }
  } catch (error) {
    throw inputError(file, error)
  } finally {
    await handle.close()
  }
}

/** Throws where row groups have a number of rows that cannot be, or not all rows of the file. */
function checkCounts({ num_rows: all, row_groups: groups }: FileMetaData): void {
  const wrong = groups.find(({ num_rows: rows }) => !(rows >= 0n && rows <= BigInt(Number.MAX_SAFE_INTEGER)))
  if (wrong) throw new Error(`a row group has ${wrong.num_rows} rows`)
  const rows = groups.reduce((sum, { num_rows }) => sum + num_rows, 0n)
  if (rows !== all) throw new Error(`its row groups have ${rows} rows, expected ${all}`)
}

/** The columns of a schema that have one value in each row, without lists and structs. */
function topElements([root, ...elements]: readonly SchemaElement[]): SchemaElement[] {
  const found: SchemaElement[] = []
  let index = 0
  for (let column = 0; column < (root.num_children ?? 0); column++) {
    const element = elements[index]
    if (element.num_children === undefined && element.repetition_type !== 'REPEATED') found.push(element)
    // A struct is followed by all that is in it.
    for (let inside = 1; inside > 0; index++) inside += (elements[index].num_children ?? 0) - 1
  }
  return found
}

async function* readRows(
  file: string,
  { row_groups: groups }: FileMetaData,
  columns: readonly SchemaElement[],
): AsyncGenerator<RawRow[]> {
  const codecs = await loadCodecs()
  const handle = await openInput(file)
  try {
    for (const group of groups) {
      if (group.num_rows > 0n) yield* readGroup(file, handle, group, columns, codecs)
    }
  } catch (error) {
    throw inputError(file, error)
  } finally {
    await handle.close()
  }
}

async function* readGroup(
  file: string,
  handle: FileHandle,
  group: RowGroup,
  columns: readonly SchemaElement[],
  codecs: Codecs,
): AsyncGenerator<RawRow[]> {
  const readers = columns.map(element => ({
    name: element.name,
    toCell: cellReader(element),
    pages: new ColumnPages(readerOf(handle), codecs, findChunk(file, group, element, codecs)),
  }))
  const rows = Number(group.num_rows)
  for (let start = 0; start < rows; start += PAGE_ROWS) {
    const count = Math.min(PAGE_ROWS, rows - start)
    const cells: unknown[][] = []
    for (const { name, pages, toCell } of readers) {
      try {
        cells.push(await pages.read(count, toCell))
      } catch (error) {
        if (!(error instanceof LargePage)) throw inputError(file, error, name)
        throw badInput({ file, cell: name }, error.message, ['Write the file again with row groups of 100,000 rows.'])
      }
    }
    yield* toRows(cells, count)
  }
}

/** Where a row group has the values of a column. Throws for values that cannot be read. */
function findChunk(file: string, group: RowGroup, element: SchemaElement, codecs: Codecs): ColumnChunk {
  const { name, type, type_length: length = 0 } = element
  const chunk = group.columns.find(({ meta_data: meta }) => String(meta?.path_in_schema) === name)
  const meta = chunk?.meta_data
  if (meta === undefined) throw new Error(`a row group lacks the column ${name}`)
  if (chunk?.file_path) throw badInput({ file, cell: name }, 'its values are in another file')
  if (!READ_TYPES.includes(type) || length > MAX_FIXED_BYTES) {
    throw badInput({ file, cell: name }, `it has the type ${type}, expected texts, integers or decimals`)
  }
  if (!Object.hasOwn(codecs, meta.codec)) {
    const expected = Object.keys(codecs).join(', ')
    throw badInput({ file, cell: name }, `its compression is ${meta.codec ?? 'unknown'}, expected one of ${expected}`, [
      'Write the file again with one of these.',
    ])
  }
  if (meta.num_values !== group.num_rows) {
    throw new Error(`a row group has ${meta.num_values} values of ${name}, expected ${group.num_rows}`)
  }
  const start = Number(meta.dictionary_page_offset || meta.data_page_offset)
  const end = start + Number(meta.total_compressed_size)
  return { element: storedElement(element), codec: meta.codec, start, end, rows: Number(group.num_rows) }
}

/** With the type of its values, the library would make doubles of decimals and dates of times. */
function storedElement(element: SchemaElement): SchemaElement {
  return { ...element, converted_type: undefined, logical_type: undefined }
}

/** The rows of columns, some at once. */
function* toRows(columns: readonly (readonly unknown[])[], length: number): Generator<RawRow[]> {
  for (let start = 0; start < length; start += ROWS_AT_ONCE) {
    yield Array.from({ length: Math.min(ROWS_AT_ONCE, length - start) }, (_, row) =>
      columns.map(cells => cells[start + row]),
    )
  }
}

/** How the plain values of a column become cells: decimals as text, times in ms. */
function cellReader({ type, converted_type, logical_type, scale = 0 }: SchemaElement): CellReader {
  if (converted_type === 'DECIMAL' || logical_type?.type === 'DECIMAL') {
    return value => formatDecimal(value instanceof Uint8Array ? parseInteger(checkLength(value)) : value, scale)
  }
  const unit = logical_type?.type === 'TIMESTAMP' ? logical_type.unit : converted_type?.replace('TIMESTAMP_', '')
  if (unit === 'MICROS') return value => toMilliseconds(value, 1_000n)
  if (unit === 'NANOS') return value => toMilliseconds(value, 1_000_000n)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  return type === 'BYTE_ARRAY'
    ? value => (value instanceof Uint8Array ? decoder.decode(checkLength(value)) : value)
    : value => value
}

/** A time in finer units; one that is no whole millisecond stays, and is refused. */
function toMilliseconds(value: unknown, perMs: bigint): unknown {
  return typeof value === 'bigint' && value % perMs === 0n ? value / perMs : value
}

/** A two's complement integer, big-endian. */
function parseInteger(bytes: Uint8Array): bigint {
  let value = 0n
  const start = bytes.length % 8
  for (let i = 0; i < start; i++) value = (value << 8n) | BigInt(bytes[i])
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let i = start; i < bytes.length; i += 8) value = (value << 64n) | view.getBigUint64(i)
  return BigInt.asIntN(8 * bytes.length, value)
}
