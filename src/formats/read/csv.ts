import { damagedInput } from './errors.js'
import type { RawTable } from './raw-table.js'
import { MAX_ROW_LENGTH, readLines } from './text.js'

/** A CSV file of klines, whose first line has the names of the columns. Throws `bad_input` and `damaged_input`. */
export async function openCsv(file: string): Promise<RawTable> {
  for await (const [columns] of readRecords(file))
    return { columns, facts: {}, doubles: [], rows: () => readRows(file) }
  throw damagedInput({ file }, 'it is empty')
}

async function* readRows(file: string): AsyncGenerator<string[][]> {
  let isFirst = true
  for await (const records of readRecords(file)) {
    yield isFirst ? records.slice(1) : records
    isFirst = false
  }
}

/** The records of a file, those of a piece at once: at least one. */
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
    if (start.length > MAX_ROW_LENGTH) break
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
