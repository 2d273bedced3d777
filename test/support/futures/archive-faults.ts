/** Known faults of files of the real archive, as edits of an `ArchiveServer`: of lines without the header. */
type Edit = (lines: string[]) => string[]

/** Rows are missing: the first minute, whole days, the last minutes of a day. Times such as `2025-01-29T13:00`; the end is exclusive. */
export function withoutRows(start: string, end: string): Edit {
  return lines => lines.filter(line => !isBetween(line, start, end))
}

/** Rows have no trades, which those of REST have. */
export function withoutVolumes(start: string, end: string): Edit {
  return lines => lines.map(line => (isBetween(line, start, end) ? withZeros(line.split(',')).join(',') : line))
}

/** The last row is that of a candle that had just opened. */
export function staleLast(lines: string[]): string[] {
  const cells = lines[lines.length - 1].split(',')
  const prices = [cells[1], cells[1], cells[1], cells[1]]
  return lines.with(-1, withZeros([cells[0], ...prices, ...cells.slice(5)]).join(','))
}

function isBetween(line: string, start: string, end: string): boolean {
  const time = Number(line.slice(0, line.indexOf(',')))
  return time >= Date.parse(`${start}Z`) && time < Date.parse(`${end}Z`)
}

/** Cells with volumes and a count of zero, written with as many digits after the point. */
function withZeros(cells: readonly string[]): string[] {
  return cells.map((cell, column) => {
    return [5, 7, 8, 9, 10].includes(column) ? cell.replace(/^\d+/, '0').replace(/\d/g, '0') : cell
  })
}
