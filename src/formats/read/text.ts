import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { COLUMNS } from '../../candles/columns.js'
import { isObject } from '../../candles/json.js'
import { parseTime } from './candle-rows.js'
import { badInput, damagedInput, type FilePlace, readInput } from './errors.js'
import type { RawRow, RawTable } from './raw-table.js'

const CHUNK_BYTES = 256 * 1024
const [GZIP, UTF_16] = [Buffer.of(0x1f, 0x8b), Buffer.of(0xff, 0xfe)]
/** What may lie between the cells of a line. */
const SEPARATORS = [',', ';', '\t', '|']

/** The text of a file in pieces, unpacked if it is compressed with gzip. Throws `bad_input` and `damaged_input`. */
function readText(file: string): AsyncGenerator<string> {
  return readInput(file, async function* (handle) {
    const { buffer } = await handle.read(Buffer.alloc(GZIP.length), 0, GZIP.length, 0)
    // Excel calls UTF-16 Unicode, and `>` of PowerShell 5 writes it.
    const decoder = new TextDecoder(buffer.equals(UTF_16) ? 'utf-16le' : 'utf-8', { fatal: true })
    const bytes = handle.createReadStream({ start: 0, highWaterMark: CHUNK_BYTES })
    // `pipeline` destroys both when one fails, or when this loop is left.
    const stream = buffer.equals(GZIP) ? pipeline(bytes, createGunzip({ chunkSize: CHUNK_BYTES }), () => {}) : bytes
    for await (const chunk of stream) yield decoder.decode(chunk, { stream: true })
    yield decoder.decode()
  })
}

/** The lines of a file without their ends, those of a piece at once, at least one. Blank ones are left out: they are no rows. */
async function* readLines(file: string): AsyncGenerator<string[]> {
  let rest = ''
  for await (const text of readText(file)) {
    const lines = (rest + text).split(/\r\n?|\n/)
    rest = lines.pop() ?? ''
    const filled = lines.filter(line => line.trim() !== '')
    if (filled.length > 0) yield filled
  }
  if (rest.trim() !== '') yield [rest]
}

/**
 * A CSV file whose first line has the names of the columns, or is a candle in the exchange's own order. Before it may be a line such as
 * `sep=;`. Throws `bad_input` and `damaged_input`.
 */
export async function openCsv(file: string): Promise<RawTable> {
  for await (const lines of readLines(file)) {
    const named = /^"?sep=([,;|\t])"?$/i.exec(lines[0])?.[1]
    const [line = ''] = lines.slice(named === undefined ? 0 : 1)
    const count = (separator: string) => line.split(separator).length
    const separator = named ?? SEPARATORS.toSorted((a, b) => count(b) - count(a))[0]
    const first = splitCells(file, line, separator).map(cell => cell.trim())
    const isCandle = first.some(cell => parseTime(cell) !== undefined)
    const times = ['open_time', 'close_time'].map(name => parseTime(first[COLUMNS.indexOf(name as 'open_time')] ?? ''))
    if (isCandle && (first.length !== COLUMNS.length || times.includes(undefined))) {
      const order = `Without names, a line has ${COLUMNS.length} cells: ${COLUMNS.join(',')}.`
      const reason = `its first line is a candle of ${first.length} cells, where the names of the columns belong`
      throw badInput({ file }, reason, [order])
    }
    const head = (named === undefined ? 0 : 1) + (isCandle ? 0 : 1)
    const isForeign = isCandle || separator !== ',' || named !== undefined
    return { columns: isCandle ? COLUMNS : first, isForeign, rows: () => readRows(file, separator, head) }
  }
  throw damagedInput({ file }, 'it is empty')
}

/** The records of a CSV file behind the first `head` ones, those of a piece at once. */
async function* readRows(file: string, separator: string, head: number): AsyncGenerator<string[][]> {
  /** The start of a record, one of whose cells has a line end. */
  let start = ''
  let left = head
  for await (const lines of readLines(file)) {
    const records: string[][] = []
    for (const line of lines) {
      const text = start + line
      const isOpen = text.includes('"') && text.split('"').length % 2 === 0
      start = isOpen ? `${text}\n` : ''
      const cells = isOpen ? [] : splitCells(file, text, separator)
      // A spreadsheet keeps the separators of rows whose cells were cleared.
      if (cells.some(cell => cell !== '')) records.push(cells)
    }
    yield records.splice(left)
    left -= records.length
  }
  if (start !== '') throw damagedInput({ file }, `a quote is not closed: ${start.slice(0, 40).trim()}`)
}

/** Cells in the order of the line; those in quotes may have commas, quotes and line ends. */
function splitCells(file: string, line: string, separator: string): string[] {
  if (!line.includes('"')) return line.split(separator)
  const cell = new RegExp(`(?:^|[${separator}]) *(?:"((?:[^"]|"")*)" *|([^"${separator}]*))`, 'gy')
  const cells = [...line.matchAll(cell)]
  const length = cells.reduce((sum, [text]) => sum + text.length, 0)
  if (length !== line.length) throw damagedInput({ file }, `a quote is out of its place: ${line.slice(0, 40)}`)
  return cells.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain)
}

/** A JSON file of klines: an array of arrays of twelve. Throws `bad_input` and `damaged_input`. */
export async function openJson(file: string): Promise<RawTable> {
  return { columns: COLUMNS, isForeign: true, rows: () => readArray(file) }
}

async function* readArray(file: string): AsyncGenerator<RawRow[]> {
  let text = ''
  for await (const piece of readText(file)) text += piece
  const rows = parseJson({ file }, text)
  if (Array.isArray(rows) && rows.every(Array.isArray)) yield rows
  else throw badInput({ file }, 'expected an array of rows, each an array')
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
  for await (const objects of readObjects(file))
    yield objects.map(object => columns.map(name => (Object.hasOwn(object, name) ? object[name] : undefined)))
}

async function* readObjects(file: string): AsyncGenerator<Readonly<Record<string, unknown>>[]> {
  let row = 0
  for await (const lines of readLines(file))
    yield lines.map(line => {
      const value = parseJson({ file, row: ++row }, line)
      if (isObject(value)) return value
      throw badInput({ file, row }, 'expected a JSON object')
    })
}

function parseJson(place: FilePlace, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw damagedInput(place, 'it is not JSON', cause)
  }
}
