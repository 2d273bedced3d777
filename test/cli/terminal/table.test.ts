import { expect, it } from 'vitest'
import { csvTable, textTable } from '../../../src/cli/terminal/table.js'

const TABLE = {
  head: ['symbol', 'windows (all)', 'note'],
  rows: [
    ['BTCUSDT', 5, '-'],
    ['X', 1234, 'a,"b"\n'],
  ],
  right: ['windows (all)'],
}

it('a text table has plain columns, numbers to the right, no frame, and no blanks at the ends of lines', () => {
  const lines = ['symbol   windows (all)  note', 'BTCUSDT              5  -', 'X                1,234  yes']
  const rows = TABLE.rows.map(row => row.with(2, row[2] === '-' ? '-' : 'yes'))
  expect(textTable({ ...TABLE, rows })).toBe(lines.join('\n'))
})

it('a CSV table has column names without blanks, and quotes cells where it must', () => {
  expect(csvTable(TABLE)).toBe('symbol,windows_all,note\nBTCUSDT,5,-\nX,1234,"a,""b""\n"')
})
