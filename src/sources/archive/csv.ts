import { KlinesError } from '../../candles/errors.js'
import { DAY_MS } from '../../candles/intervals.js'

/** The rows of days as text in the form of a window, `[[...],[...]]`, by the start of the UTC day, ms. */
export type DayTexts = ReadonlyMap<number, Buffer>

/** A line has some 200 bytes. A file without a newline would be read to its end, and copied with each piece. */
const MAX_LINE_BYTES = 4096
const [NEWLINE, COMMA] = Buffer.from('\n,')

/**
 * Reads the CSV of the archive to text for the window codec: cells are put where the exchange's JSON has them, and not judged. The last
 * one has another meaning in old files; the exchange always sends `"0"`. `wanted`: the starts of days, ms UTC; others are left out. Throws
 * `bad_window` for a line without a time, or of more than 4 kB.
 */
export async function readDays(chunks: AsyncIterable<Buffer>, wanted: ReadonlySet<number>): Promise<DayTexts> {
  const days = new Map<number, DayText>()
  let lines = 0
  const add = (bytes: Buffer, start: number, end: number) => {
    lines++
    if (end - start > MAX_LINE_BYTES)
      throw new KlinesError('bad_window', `line ${lines} of the file is longer than ${MAX_LINE_BYTES} bytes`)
    const cells = splitLine(bytes, start, end)
    const time = toMilliseconds(bytes, cells[0], cells[1] - 1)
    // Files of spot candles have no header so far; others have.
    if (time === undefined && lines === 1 && !/^\d/.test(bytes.toString('latin1', start, end))) return
    if (time === undefined) throw new KlinesError('bad_window', `line ${lines} of the file has no time`)
    const day = Number(time) - (Number(time) % DAY_MS)
    if (!wanted.has(day)) return
    const text = days.get(day) ?? new DayText()
    days.set(day, text)
    text.add(bytes, cells, time)
  }
  let rest = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk])
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      add(bytes, start, end)
      start = end + 1
    }
    rest = bytes.subarray(start)
    if (rest.length > MAX_LINE_BYTES) break
  }
  if (rest.length > 0) add(rest, 0, rest.length)
  return new Map([...days].map(([day, text]) => [day, text.end()]))
}

/** Where each cell of a line starts; the last number is one after its end. */
function splitLine(bytes: Buffer, start: number, end: number): number[] {
  const cells = [start]
  for (let at = start; at < end; at++) if (bytes[at] === COMMA) cells.push(at + 1)
  return [...cells, end + 1]
}

/** A time as text in ms; undefined for what is none. ms have 13 digits, and µs, which are rounded down, 16; a file may have both. */
function toMilliseconds(bytes: Buffer, start: number, end: number): string | undefined {
  const text = bytes.toString('latin1', start, end)
  return /^\d{13}(\d{3})?$/.test(text) ? text.slice(0, 13) : undefined
}

class DayText {
  private bytes = Buffer.allocUnsafe(64 * 1024)
  private length = 0

  /** Adds a row; a line that has not twelve cells as `[]`, which the codec refuses. */
  add(line: Buffer, cells: readonly number[], time: string): void {
    // The times shrink, and there are 34 bytes between cells.
    const needed = this.length + cells[cells.length - 1] - cells[0] + 64
    if (needed > this.bytes.length) this.bytes = Buffer.concat([this.bytes], 2 * needed)
    const [, open, , , , , closes, quote, count, takers, , last] = cells
    this.write(this.length === 0 ? '[[' : ',[')
    if (cells.length === 13) {
      this.write(`${time},"`)
      this.copy(line, open, closes - 1)
      this.write(`",${toMilliseconds(line, closes, quote - 1)},"`)
      this.copy(line, quote, count - 1)
      this.write('",')
      this.copy(line, count, takers - 1)
      this.write(',"')
      this.copy(line, takers, last - 1)
      this.write('","0"')
    }
    this.write(']')
  }

  end(): Buffer {
    this.write(']')
    return Buffer.from(this.bytes.subarray(0, this.length))
  }

  /** ASCII; faster than a call of Node for so few characters. */
  private write(text: string): void {
    for (let at = 0; at < text.length; at++) this.bytes[this.length++] = text.charCodeAt(at)
  }

  /** Copies cells; each of them is a text. */
  private copy(line: Buffer, start: number, end: number): void {
    for (let at = start; at < end; at++) {
      if (line[at] === COMMA) this.write('","')
      else this.bytes[this.length++] = line[at]
    }
  }
}
