import { DataType, type Field, RecordBatchReader, type Schema } from 'apache-arrow'
import { METADATA_KEY } from '../exporter.js'
import { inputError, openInput } from './errors.js'
import { formatDecimal, parseFacts, type RawRow, type RawTable } from './raw-table.js'

/** Rows that are made at once: they take many times the memory of the values in columns. */
const ROWS_AT_ONCE = 1_000

/** An Arrow IPC file. Throws `bad_input` and `damaged_input`. */
export async function openArrow(file: string): Promise<RawTable> {
  const schema = await readSchema(file)
  const doubles = schema.fields.filter(({ type }) => DataType.isFloat(type))
  return {
    columns: schema.fields.map(({ name }) => name),
    facts: parseFacts(schema.metadata.get(METADATA_KEY)),
    doubles: doubles.map(({ name }) => name),
    rows: () => readRows(file, schema),
  }
}

async function readSchema(file: string): Promise<Schema> {
  const handle = await openInput(file)
  try {
    const reader = await RecordBatchReader.from(handle)
    const { schema } = await reader.open()
    // The library takes any bytes for a stream that is not complete yet.
    if (schema === undefined) throw new Error('it is no Arrow IPC file')
    return schema
  } catch (error) {
    throw inputError(file, error)
  } finally {
    await handle.close()
  }
}

async function* readRows(file: string, { fields }: Schema): AsyncGenerator<RawRow[]> {
  const readers = fields.map(cellReader)
  const handle = await openInput(file)
  try {
    for await (const record of await RecordBatchReader.from(handle)) {
      const columns = readers.map((_, column) => record.getChildAt(column))
      const toRow = (row: number) => readers.map((read, column) => read(columns[column]?.get(row)))
      for (let start = 0; start < record.numRows; start += ROWS_AT_ONCE) {
        const length = Math.min(ROWS_AT_ONCE, record.numRows - start)
        yield Array.from({ length }, (_, index) => toRow(start + index))
      }
    }
  } catch (error) {
    throw inputError(file, error)
  } finally {
    await handle.close()
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
