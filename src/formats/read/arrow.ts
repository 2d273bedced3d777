import type { FileHandle } from 'node:fs/promises'
import { DataType, type Field, RecordBatchReader, type Schema } from 'apache-arrow'
import { METADATA_KEY } from '../exporter.js'
import { damagedInput, readInput } from './errors.js'
import { formatDecimal, parseFacts, type RawRow, type RawTable } from './raw-table.js'

/** Rows that are made at once: they take many times the memory of the values in columns. */
const ROWS_AT_ONCE = 1_000

/** An Arrow IPC file. Throws `bad_input` and `damaged_input`. */
export async function openArrow(file: string): Promise<RawTable> {
  for await (const { fields, metadata } of readInput(file, readSchema)) {
    return {
      columns: fields.map(({ name }) => name),
      facts: parseFacts(metadata.get(METADATA_KEY)),
      hasDoubles: fields.some(({ type }) => DataType.isFloat(type)),
      rows: () => readInput(file, handle => readRows(handle, fields)),
    }
  }
  // The library takes any bytes for a stream that is not complete yet.
  throw damagedInput({ file }, 'it is damaged, or no Arrow IPC file')
}

async function* readSchema(handle: FileHandle): AsyncGenerator<Schema> {
  const reader = await RecordBatchReader.from(handle)
  const { schema } = await reader.open()
  if (schema) yield schema
}

async function* readRows(handle: FileHandle, fields: readonly Field[]): AsyncGenerator<RawRow[]> {
  const readers = fields.map(cellReader)
  for await (const record of await RecordBatchReader.from(handle)) {
    const columns = readers.map((_, column) => record.getChildAt(column))
    const toRow = (row: number) => readers.map((read, column) => read(columns[column]?.get(row)))
    for (let start = 0; start < record.numRows; start += ROWS_AT_ONCE) {
      const length = Math.min(ROWS_AT_ONCE, record.numRows - start)
      yield Array.from({ length }, (_, index) => toRow(start + index))
    }
  }
}

/** How the values of a column become cells: decimals as text. */
function cellReader({ type }: Field): (value: unknown) => unknown {
  if (!DataType.isDecimal(type)) return value => value
  const { scale } = type
  return value => formatDecimal(value instanceof Uint32Array ? toInteger(value) : value, scale)
}

/** A two's complement integer of words of 32 bits, the lowest first. */
function toInteger(words: Uint32Array): bigint {
  const value = words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n)
  return BigInt.asIntN(32 * words.length, value)
}
