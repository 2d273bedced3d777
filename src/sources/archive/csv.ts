import { KlinesError } from '../../candles/errors.js'
import { DAY_MS } from '../../candles/intervals.js'

/** The rows of days as text in the form of a window, `[[...],[...]]`, by the start of the UTC day, ms. */
export type DayTexts = ReadonlyMap<number, Buffer>

/** ms, or µs, which are rounded down; a file may have both. */
const TIME = '(\\d{13})(?:\\d{3})?'
const CELL = '([^,\\n]*)'
/** The last cell has another meaning in old files, and is left out: the exchange always sends `"0"`. */
const CELLS = [TIME, CELL, CELL, CELL, CELL, CELL, TIME, CELL, CELL, CELL, CELL, '[^,\\n]*']
const LINE = new RegExp(`^${CELLS.join(',')}$`, 'gm')
/** The same in the exchange's JSON. */
const ROW = '[$1,"$2","$3","$4","$5","$6",$7,"$8",$9,"$10","$11","0"]'
const START = new RegExp(`^\\[?${TIME},`)
/** Many lines at once are faster than one by one; a month at once takes much memory. */
const PART_BYTES = 256 * 1024

/**
 * Reads the CSV of the archive to text for the window codec: cells are put where the exchange's JSON has them, and not judged. A line that
 * has not twelve cells becomes `[]`, which the codec refuses. Throws `bad_window` for a line without a time.
 */
export function readDays(csv: Buffer): DayTexts {
  const days = new Map<number, string[]>()
  let count = 0
  for (let start = 0; start < csv.length; ) {
    const end = csv.indexOf('\n', start + PART_BYTES) + 1 || csv.length
    const lines = csv.toString('latin1', start, end).replace(LINE, ROW).split('\n')
    start = end
    if (lines.at(-1) === '') lines.pop()
    for (const line of lines) {
      count++
      // Files of spot candles have no header so far; others have.
      if (count === 1 && !/^[[\d]/.test(line)) continue
      const time = Number(START.exec(line)?.[1])
      if (Number.isNaN(time)) throw new KlinesError('bad_window', `line ${count} of the file has no time`)
      const day = time - (time % DAY_MS)
      const rows = days.get(day) ?? []
      days.set(day, rows)
      rows.push(line.startsWith('[') ? line : '[]')
    }
  }
  return new Map([...days].map(([day, rows]) => [day, Buffer.from(`[${rows.join(',')}]`, 'latin1')]))
}
