import { isDeepStrictEqual } from 'node:util'
import { DECIMAL_PRECISION, DECIMAL_SCALE } from '../../../klines/batch/decimals.js'
import { parseObject } from '../../../klines/json.js'
import type { ColumnType } from '../../row-format.js'
import { METADATA_KEY } from '../exporter.js'
import { type FileFacts, MAX_FOOTER_BYTES, nameColumn, type ReadAt } from '../file-facts.js'
import { FlatTable } from './flat-table.js'

/** Length and magic bytes at the end of a file; magic bytes and padding at its start. */
const END_BYTES = 10
const START_BYTES = 8
/** Before each message: -1, and its length. */
const MESSAGE_HEAD = 8
const MAX_MESSAGE_BYTES = 2 * 1024 * 1024
/** Offset, length and body of a record batch in the footer. */
const BLOCK_BYTES = 24

/**
 * Reads the footer of an Arrow IPC file of `size` bytes, and the head of each record batch. Throws for a file that is none. Files do not
 * name the program that wrote them: in those of klines, the metadata at the end has the number of rows, and that at the start, where it
 * was not known yet, has not. Another program would write the same metadata twice.
 */
export async function readArrowFacts(readAt: ReadAt, size: number): Promise<FileFacts> {
  const length = (await readAt(size - END_BYTES, END_BYTES)).readUInt32LE()
  if (length > Math.min(MAX_FOOTER_BYTES, size - END_BYTES)) throw new Error(`its footer has ${length} bytes`)
  const footer = FlatTable.root(await readAt(size - END_BYTES - length, length))
  const schema = footer.table(1)
  const start = (await readMessage(readAt, START_BYTES)).table(2)
  if (schema === undefined || start === undefined) throw new Error('it has no schema')
  const metadata = findMetadata(schema)
  const blocks = footer.vector(3, BLOCK_BYTES)
  let rows = 0
  for (let at = 0; at < (blocks?.byteLength ?? 0); at += BLOCK_BYTES) {
    const message = await readMessage(readAt, Number(blocks?.getBigInt64(at, true)))
    rows += message.table(2)?.integer(0, 8) ?? 0
  }
  const columns = schema.tables(1).map(describeField)
  const isAtEnd = addsRows(findMetadata(start), metadata)
  const isSame = String(columns) === String(start.tables(1).map(describeField))
  return { columns: isSame ? columns : [], rows, isWrittenBy: () => isAtEnd, metadata }
}

/** Whether the metadata at the end of a file says what that at its start says, and the number of rows. */
function addsRows(start = '', end = ''): boolean {
  const [first, last] = [parseObject(start), parseObject(end)]
  if (first === undefined || last === undefined || 'rows' in first || !('rows' in last)) return false
  return Object.entries(first).every(([name, value]) => isDeepStrictEqual(value, last[name]))
}

async function readMessage(readAt: ReadAt, offset: number): Promise<FlatTable> {
  const head = await readAt(offset, MESSAGE_HEAD)
  const length = head.readUInt32LE(4)
  if (head.readInt32LE() !== -1 || length > MAX_MESSAGE_BYTES) throw new Error('it has another form')
  return FlatTable.root(await readAt(offset + MESSAGE_HEAD, length))
}

function findMetadata(schema: FlatTable): string | undefined {
  return schema
    .tables(2)
    .find(pair => pair.text(0) === METADATA_KEY)
    ?.text(1)
}

function describeField(field: FlatTable): string {
  const isPlain = field.integer(1, 1) === 0 && field.table(4) === undefined && field.tables(5).length === 0
  return nameColumn(field.text(0) ?? '', isPlain ? findType(field.integer(2, 1), field.table(3)) : undefined)
}

/** The type of a column by its number in Arrow's `Schema.fbs`. */
function findType(number: number, type: FlatTable | undefined): ColumnType | undefined {
  if (number === 2 && type?.integer(0, 4) === 64 && type.integer(1, 1) === 1) return 'count'
  if (number === 3 && type?.integer(0, 2) === 2) return 'double'
  if (number === 5) return 'text'
  if (number === 7) {
    const facts = [type?.integer(0, 4), type?.integer(1, 4), type?.integer(2, 4, 128)]
    return String(facts) === String([DECIMAL_PRECISION, DECIMAL_SCALE, 128]) ? 'decimal' : undefined
  }
  return number === 10 && type?.integer(0, 2) === 1 && type.text(1) === 'UTC' ? 'time' : undefined
}
