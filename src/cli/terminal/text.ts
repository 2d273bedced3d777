import Table from 'cli-table3'

/** Rows under a header as plain columns: no frame and no colour, to be read and to be grepped. */
export function textTable(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  right: readonly string[] = [],
): string {
  const none = {
    top: '',
    'top-mid': '',
    'top-left': '',
    'top-right': '',
    bottom: '',
    'bottom-mid': '',
    'bottom-left': '',
    'bottom-right': '',
    left: '',
    'left-mid': '',
    mid: '',
    'mid-mid': '',
    right: '',
    'right-mid': '',
    middle: '  ',
  }
  const table = new Table({
    head: [...head],
    chars: none,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: head.map(name => (right.includes(name) ? 'right' : 'left')),
  })
  for (const row of rows) table.push(row.map(String))
  return table
    .toString()
    .split('\n')
    .map(line => line.trimEnd())
    .join('\n')
}

/** `1,234,567` */
export function formatCount(count: number): string {
  // toLocaleString first loads the rules of all languages, which takes 7 ms.
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}

/** `1 window`, `2 windows` */
export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** `17.3 MB`, in powers of ten. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const units = ['kB', 'MB', 'GB', 'TB']
  let [value, unit] = [bytes / 1000, 0]
  // What would be rounded to 1000.0 is one of the next unit.
  for (; value >= 999.95 && unit < units.length - 1; unit++) value /= 1000
  return `${value.toFixed(1)} ${units[unit]}`
}

/** `2024-01-31 12:00`, UTC; `-` when there is none. */
export function formatTime(time: number | undefined): string {
  return time === undefined ? '-' : new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}

/** Text of somebody else's in one line that writes nothing but itself to a terminal. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, '?')
}
