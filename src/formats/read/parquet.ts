import zlib from 'node:zlib'
import {
  asyncBufferFromFile,
  type Compressors,
  type FileMetaData,
  type ParquetScanOptions,
  parquetMetadataAsync,
  parquetScan,
  parquetSchema,
  type SchemaElement,
} from 'hyparquet'
import { COLUMNS } from '../../candles/columns.js'
import { SERIES_COLUMNS } from '../../options.js'
import { METADATA_KEY } from '../exporter.js'
import { hasZstd } from '../row-format.js'
import { inputError } from './errors.js'
import { formatDecimal, parseFacts, type RawTable } from './raw-table.js'

/** The cells of a whole row group would take 400 MB. */
const ROWS_AT_ONCE = 20_000
/** Other programs may have added columns of any type. */
const READ_COLUMNS: readonly string[] = [...SERIES_COLUMNS, ...COLUMNS].filter(name => name !== 'ignore')

/** A Parquet file, also one that another program has written again. Throws `bad_input` and `damaged_input`. */
export async function openParquet(file: string): Promise<RawTable> {
  try {
    const metadata = await parquetMetadataAsync(await asyncBufferFromFile(file), { geoparquet: false })
    // Lists and structs have others below them.
    const plain = parquetSchema(metadata).children.filter(({ children }) => children.length === 0)
    const columns = plain.map(({ element }) => element).filter(({ name }) => READ_COLUMNS.includes(name))
    const entry = metadata.key_value_metadata?.find(({ key }) => key === METADATA_KEY)
    return {
      columns: columns.map(({ name }) => name),
      facts: parseFacts(entry?.value),
      hasDoubles: columns.some(({ type }) => type === 'DOUBLE' || type === 'FLOAT'),
      rows: () => readRows(file, metadata, columns),
    }
  } catch (error) {
    throw inputError(file, error)
  }
}

async function* readRows(path: string, metadata: FileMetaData, columns: readonly SchemaElement[]) {
  const compressors = await loadCompressors()
  const schema = metadata.schema.map(storedElement)
  try {
    const file = await asyncBufferFromFile(path)
    for (const group of metadata.row_groups) {
      const part = { ...metadata, schema, row_groups: [group], num_rows: group.num_rows }
      for (let rowStart = 0; rowStart < group.num_rows; rowStart += ROWS_AT_ONCE) {
        const rowEnd = Math.min(rowStart + ROWS_AT_ONCE, Number(group.num_rows))
        const cells: unknown[][] = []
        for (const element of columns)
          cells.push(await readCells({ file, metadata: part, compressors, rowStart, rowEnd }, element))
        yield Array.from({ length: rowEnd - rowStart }, (_, row) => cells.map(column => column[row]))
      }
    }
  } catch (error) {
    throw inputError(path, error)
  }
}

/** By the types of values the library would make doubles of decimals and dates of times. It gives all bytes to one parser. */
function storedElement(element: SchemaElement): SchemaElement {
  const converted_type = element.type?.endsWith('BYTE_ARRAY') ? 'UTF8' : undefined
  return { ...element, converted_type, logical_type: undefined }
}

async function readCells(options: ParquetScanOptions, element: SchemaElement): Promise<unknown[]> {
  const { rowStart = 0, rowEnd = 0 } = options
  const toCell = cellReader(element)
  const column = element.name
  const scan = await parquetScan({ ...options, columns: [column], parsers: { stringFromBytes: toCell } })
  const values = await scan.readColumn({ column, rowStart, rowEnd })
  if (values.length === rowEnd - rowStart) return Array.from<unknown, unknown>(values, toCell)
  throw new Error(`it has ${values.length} values, expected ${rowEnd - rowStart}`)
}

/** What the library cannot unpack itself. Node 20, whose types this project has, lacks zstd: there fzstd unpacks it. */
async function loadCompressors(): Promise<Compressors> {
  const GZIP = (bytes: Uint8Array) => zlib.gunzipSync(bytes)
  if (hasZstd()) return { GZIP, ZSTD: (zlib as unknown as { zstdDecompressSync: typeof GZIP }).zstdDecompressSync }
  const { decompress } = await import('fzstd')
  return { GZIP, ZSTD: (bytes, length) => decompress(bytes, new Uint8Array(length)) }
}

/** Decimals become text, times ms. */
function cellReader({ type, converted_type, logical_type, scale = 0 }: SchemaElement): (value: unknown) => unknown {
  if (converted_type === 'DECIMAL' || logical_type?.type === 'DECIMAL')
    return value => formatDecimal(value instanceof Uint8Array ? parseInteger(value) : value, scale)
  const unit = logical_type?.type === 'TIMESTAMP' ? logical_type.unit : converted_type?.replace('TIMESTAMP_', '')
  const perMs = { MICROS: 1_000n, NANOS: 1_000_000n }[unit ?? '']
  // A time that is no whole millisecond stays, and is refused.
  if (perMs) return value => (typeof value === 'bigint' && value % perMs === 0n ? value / perMs : value)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  return type === 'BYTE_ARRAY' ? value => (value instanceof Uint8Array ? decoder.decode(value) : value) : value => value
}

/** A two's complement integer, big-endian. */
function parseInteger(bytes: Uint8Array): bigint {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
  return BigInt.asIntN(8 * bytes.length, BigInt(`0x${hex || '0'}`))
}
