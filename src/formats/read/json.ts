import { COLUMNS } from '../../candles/columns.js'
import { isObject } from '../../candles/json.js'
import { damagedInput } from './errors.js'
import type { RawRow, RawTable } from './raw-table.js'
import { MAX_ROW_LENGTH, readLines, readText } from './text.js'

/** A row of a JSON array, with what stands in front of it. */
const ROW = /\s*([[,])\s*(\[(?:[^\]"]|"(?:[^"\\]|\\.)*")*\])/y
const [START, EMPTY, END] = [/^\s*\[/, /^\s*\[\s*\]\s*$/, /^\s*\]\s*$/]

/**
 * A JSON file of klines: an array of rows that are arrays. These do not name their cells, which must be the twelve in their order.
 * Throws `bad_input` and `damaged_input`.
 */
export async function openJson(file: string): Promise<RawTable> {
  return { columns: COLUMNS, facts: {}, doubles: [], rows: () => readArrays(file) }
}

async function* readArrays(file: string): AsyncGenerator<RawRow[]> {
  let [rest, row] = ['', 0]
  for await (const text of readText(file)) {
    rest += text
    const rows: RawRow[] = []
    let end = 0
    for (;;) {
      ROW.lastIndex = end
      const match = ROW.exec(rest)
      // The array begins with its first row, and every other one follows a comma.
      if (match === null || (match[1] === '[') !== (row === 0)) break
      rows.push(parseRow(file, ++row, match[2]))
      end = ROW.lastIndex
    }
    rest = rest.slice(end)
    if (rest.length > MAX_ROW_LENGTH) break
    if (rows.length > 0) yield rows
  }
  if (row === 0 ? EMPTY.test(rest) : END.test(rest)) return
  if (row === 0 && !START.test(rest)) throw damagedInput({ file }, 'expected an array of rows')
  throw damagedInput({ file, row: row + 1 }, 'expected an array of cells, or the end of the rows')
}

/** A JSON Lines file of klines: an object a row. Throws `bad_input` and `damaged_input`. */
export async function openJsonLines(file: string): Promise<RawTable> {
  for await (const [first] of readObjects(file)) {
    const columns = Object.keys(first)
    return { columns, facts: {}, doubles: [], rows: () => readCells(file, columns) }
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
      const value = parseRow(file, ++row, line)
      if (isObject(value)) return value
      throw damagedInput({ file, row }, 'expected a JSON object')
    })
    if (objects.length > 0) yield objects
  }
}

function parseRow(file: string, row: number, text: string) {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw damagedInput({ file, row }, 'it is not JSON', cause)
  }
}
