import { KlinesError } from '../../candles/errors.js'
import { DAY_MS } from '../../candles/intervals.js'

/** The rows of days as text in the form of a window, `[[...],[...]]`, by the start of the UTC day, ms. */
export type DayTexts = ReadonlyMap<number, Buffer>

const [NEWLINE, COMMA] = Buffer.from('\n,')
/** The first cell of a line: ms, or µs, which are rounded down; a file may have both. */
const TIME = /^(\d{13})(\d{3})?,/
const TIME_DIGITS = 13
/**
 * What the exchange's JSON has in front of each cell. The last cell has another meaning in old files, and is left out: the exchange always
 * sends `"0"`.
 */
const BEFORE = ['[', ',"', '","', '","', '","', '","', '",', ',"', '",', ',"', '","', '","0"]']
const [OPEN_TIME, CLOSE_TIME, LAST] = [0, 6, 11]

/**
 * Reads the CSV of the archive to text for the window codec: cells are put where the exchange's JSON has them, and not judged. `wanted`:
 * the starts of days, ms UTC; others are left out. Throws `bad_window` for a line without a time.
 */
export function readDays(csv: Buffer, wanted: ReadonlySet<number>): DayTexts {
  const days = new Map<number, DayText>()
  let lines = 0
  for (let start = 0; start < csv.length; ) {
    const newline = csv.indexOf(NEWLINE, start)
    const line = csv.subarray(start, newline < 0 ? csv.length : newline)
    start += line.length + 1
    lines++
    const head = line.toString('latin1', 0, 2 * TIME_DIGITS)
    const time = Number(TIME.exec(head)?.[1])
    // Files of spot candles have no header so far; others have.
    if (lines === 1 && !/^\d/.test(head)) continue
    if (Number.isNaN(time)) throw new KlinesError('bad_window', `line ${lines} of the file has no time`)
    const day = time - (time % DAY_MS)
    if (!wanted.has(day)) continue
    const text = days.get(day) ?? new DayText()
    days.set(day, text)
    text.add(line)
  }
  return new Map([...days].map(([day, text]) => [day, text.end()]))
}

class DayText {
  private bytes = Buffer.allocUnsafe(64 * 1024)
  private length = 0

  /** Adds a row; a line that has not twelve cells as `[]`, which the codec refuses. */
  add(line: Buffer): void {
    // There are 34 bytes between cells.
    const needed = this.length + line.length + 64
    if (needed > this.bytes.length) this.bytes = Buffer.concat([this.bytes], 2 * needed)
    this.write(this.length === 0 ? '[' : ',')
    const start = this.length
    let cell = 0
    let digits = 0
    this.write(BEFORE[cell])
    for (const byte of line) {
      if (byte === COMMA) {
        cell++
        digits = 0
        this.write(BEFORE[cell] ?? '')
      } else if (cell < LAST) {
        const isTime = cell === OPEN_TIME || cell === CLOSE_TIME
        if (!isTime || digits++ < TIME_DIGITS) this.bytes[this.length++] = byte
      }
    }
    if (cell === LAST) return
    this.length = start
    this.write('[]')
  }

  end(): Buffer {
    this.write(']')
    return Buffer.from(this.bytes.subarray(0, this.length))
  }

  /** ASCII; faster than a call of Node for so few characters. */
  private write(text: string): void {
    for (let at = 0; at < text.length; at++) this.bytes[this.length++] = text.charCodeAt(at)
  }
}
