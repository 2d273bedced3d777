import type { FileHandle } from 'node:fs/promises'
import zlib from 'node:zlib'
import type { AsyncBuffer, Compressors, FileMetaData, SchemaElement } from 'hyparquet'
import { METADATA_KEY } from '../export/formats/exporter.js'
import { hasZstd } from '../export/row-format.js'
import { type CellReader, formatDecimal, ROWS_AT_ONCE } from './cells.js'
import { inputError, openInput } from './errors.js'
import { parseFacts, type RawRow, type RawTable } from './raw-table.js'

/** The rows of a page that klines writes: its values are unpacked at once. */
const PAGE_ROWS = 20_000
/** A larger page is refused before it is unpacked; those of other programs have some MB. */
const MAX_PAGE_BYTES = 256 * 1024 * 1024

/** A Parquet file, also one that another program has written again. Throws `bad_input` and `damaged_input`. */
export async function openParquet(file: string): Promise<RawTable> {
  const metadata = await readMetadata(file)
  const [, ...elements] = metadata.schema
  const entry = metadata.key_value_metadata?.find(({ key }) => key === METADATA_KEY)
  return {
    columns: elements.map(({ name }) => name),
    facts: parseFacts(entry?.value),
    doubles: elements.filter(({ type }) => type === 'DOUBLE' || type === 'FLOAT').map(({ name }) => name),
    rows: () => readRows(file, metadata),
  }
}

async function readMetadata(file: string): Promise<FileMetaData> {
  const { parquetMetadataAsync } = await import('hyparquet')
  const handle = await openInput(file)
  try {
    return await parquetMetadataAsync(await toBuffer(handle))
  } catch (error) {
    throw inputError(file, error)
  } finally {
    await handle.close()
  }
}

async function* readRows(file: string, metadata: FileMetaData): AsyncGenerator<RawRow[]> {
  const { parquetScan } = await import('hyparquet')
  const [root, ...elements] = metadata.schema
  const readers = elements.map(cellReader)
  // With their types, the library would make doubles of decimals and dates of times.
  const plain = elements.map(element => ({ ...element, converted_type: undefined, logical_type: undefined }))
  const schema = [root, ...plain]
  const handle = await openInput(file)
  try {
    const reading = { file: await toBuffer(handle), compressors: await loadCompressors(), utf8: false }
    const options = { ...reading, metadata: { ...metadata, schema } }
    for (const { rowStart, rowEnd } of (await parquetScan(options)).ranges) {
      for (let start = rowStart; start < rowEnd; start += PAGE_ROWS) {
        const range = { rowStart: start, rowEnd: Math.min(rowEnd, start + PAGE_ROWS) }
        const columns: unknown[][] = []
        for (const [index, { name }] of elements.entries()) {
          // A scan keeps what it has read last of each column: views of bytes, which take three times the memory of cells.
          const { readColumn } = await parquetScan(options)
          columns.push(Array.from(await readColumn({ column: name, ...range }), readers[index]))
        }
        yield* toRows(columns, range.rowEnd - start)
      }
    }
  } catch (error) {
    throw inputError(file, error)
  } finally {
    await handle.close()
  }
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
    return value => formatDecimal(value instanceof Uint8Array ? parseInteger(value) : value, scale)
  }
  const unit = logical_type?.type === 'TIMESTAMP' ? logical_type.unit : converted_type?.replace('TIMESTAMP_', '')
  if (unit === 'MICROS') return value => toMilliseconds(value, 1_000n)
  if (unit === 'NANOS') return value => toMilliseconds(value, 1_000_000n)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  return type === 'BYTE_ARRAY' ? value => (value instanceof Uint8Array ? decoder.decode(value) : value) : value => value
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

async function loadCompressors(): Promise<Compressors> {
  const { snappyUncompress } = await import('hyparquet')
  const unzstd = await loadZstd()
  return {
    GZIP: (bytes, length) => zlib.gunzipSync(bytes, { maxOutputLength: checkPage(length) }),
    ZSTD: (bytes, length) => unzstd(bytes, checkPage(length)),
    SNAPPY: (bytes, length) => {
      const page = new Uint8Array(checkPage(length))
      snappyUncompress(bytes, page)
      return page
    },
  }
}

/** The types of this project are those of Node 20, which has no zstd: there a library unpacks it. */
async function loadZstd(): Promise<(bytes: Uint8Array, length: number) => Uint8Array> {
  if (hasZstd()) {
    const { zstdDecompressSync } = zlib as unknown as { zstdDecompressSync: typeof zlib.gunzipSync }
    return (bytes, maxOutputLength) => zstdDecompressSync(bytes, { maxOutputLength })
  }
  const { decompress } = await import('fzstd')
  return (bytes, length) => decompress(bytes, new Uint8Array(length))
}

function checkPage(length: number): number {
  if (length > 0 && length <= MAX_PAGE_BYTES) return length
  throw new Error(`a page has ${length} bytes, expected at most ${MAX_PAGE_BYTES}`)
}

/** Reads at places of an open file. */
async function toBuffer(handle: FileHandle): Promise<AsyncBuffer> {
  const { size } = await handle.stat()
  return {
    byteLength: size,
    async slice(start, end = size) {
      const bytes = new Uint8Array(Math.max(0, Math.min(end, size) - start))
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, start)
      return bytes.buffer.slice(0, bytesRead)
    },
  }
}
