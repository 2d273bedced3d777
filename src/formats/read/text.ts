import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { COLUMNS } from '../../candles/columns.js'
import { isObject } from '../../candles/json.js'
import { damagedInput, type FilePlace, readInput } from './errors.js'
import type { RawRow, RawTable } from './raw-table.js'

const CHUNK_BYTES = 256 * 1024
const GZIP = Buffer.of(0x1f, 0x8b)

/** The text of a file in pieces, unpacked if it is compressed with gzip. Throws `bad_input` and `damaged_input`. */
function readText(file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  return readInput(file, async function* (handle) {
    const { buffer } = await handle.read(Buffer.alloc(GZIP.length), 0, GZIP.length, 0)
    const bytes = handle.createReadStream({ start: 0, highWaterMark: CHUNK_BYTES })
    // `pipeline` destroys both when one fails, or when this loop is left.
    const stream = buffer.equals(GZIP) ? pipeline(bytes, createGunzip({ chunkSize: CHUNK_BYTES }), () => {}) : bytes
    for await (const chunk of stream) yield decoder.decode(chunk, { stream: true })
    yield decoder.decode()
  })
}

/** The lines of a file without their ends, those of a piece at once. */
async function* readLines(file: string): AsyncGenerator<string[]> {
  let rest = ''
  for await (const text of readText(file)) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    yield lines
  }
  if (rest !== '') yield [rest]
}

/** A CSV file of klines, whose first line has the names of the columns. Throws `bad_input` and `damaged_input`. */
export async function openCsv(file: string): Promise<RawTable> {
  for await (const [columns] of readRecords(file)) return { columns, rows: () => readRows(file) }
  throw damagedInput({ file }, 'it is empty')
}

async function* readRows(file: string): AsyncGenerator<string[][]> {
  let head = 1
  for await (const records of readRecords(file)) {
    yield records.slice(head)
    head = 0
  }
}

/** The records of a CSV file, those of a piece at once: at least one. */
async function* readRecords(file: string): AsyncGenerator<string[][]> {
  /** The start of a record, one of whose cells has a line end. */
  let start = ''
  for await (const lines of readLines(file)) {
    const records: string[][] = []
    for (const line of lines) {
      const text = start + line
      const isOpen = text.includes('"') && text.split('"').length % 2 === 0
      start = isOpen ? `${text}\n` : ''
      if (!isOpen) records.push(splitCells(file, text.endsWith('\r') ? text.slice(0, -1) : text))
    }
    if (records.length > 0) yield records
  }
  if (start !== '') throw damagedInput({ file }, `a quote is not closed: ${start.slice(0, 40).trim()}`)
}

/** Cells in the order of the line; those in quotes may have commas, quotes and line ends. */
function splitCells(file: string, line: string): string[] {
  if (!line.includes('"')) return line.split(',')
  const cells = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/gy)]
  const length = cells.reduce((sum, [text]) => sum + text.length, 0)
  if (length !== line.length) throw damagedInput({ file }, `a quote is out of its place: ${line.slice(0, 40)}`)
  return cells.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain)
}

/** A JSON file of klines: an array of arrays of twelve. Throws `bad_input` and `damaged_input`. */
export async function openJson(file: string): Promise<RawTable> {
  return { columns: COLUMNS, rows: () => readArray(file) }
}

async function* readArray(file: string): AsyncGenerator<RawRow[]> {
  let text = ''
  for await (const piece of readText(file)) text += piece
  const rows = parseJson({ file }, text)
  if (Array.isArray(rows) && rows.every(Array.isArray)) yield rows
  else throw damagedInput({ file }, 'expected an array of rows')
}

/** A JSON Lines file, whose first object has the names of the columns. Throws `bad_input` and `damaged_input`. */
export async function openJsonLines(file: string): Promise<RawTable> {
  for await (const [first] of readObjects(file)) {
    const columns = Object.keys(first)
    return { columns, rows: () => readCells(file, columns) }
  }
  throw damagedInput({ file }, 'it is empty')
}

async function* readCells(file: string, columns: readonly string[]): AsyncGenerator<RawRow[]> {
  for await (const objects of readObjects(file)) {
    yield objects.map(object => columns.map(name => (Object.hasOwn(object, name) ? object[name] : undefined)))
  }
}

async function* readObjects(file: string): AsyncGenerator<Readonly<Record<string, unknown>>[]> {
  let row = 0
  for await (const lines of readLines(file)) {
    const objects = lines.map(line => {
      const value = parseJson({ file, row: ++row }, line)
      if (isObject(value)) return value
      throw damagedInput({ file, row }, 'expected a JSON object')
    })
    if (objects.length > 0) yield objects
  }
}

function parseJson(place: FilePlace, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw damagedInput(place, 'it is not JSON', cause)
  }
}
