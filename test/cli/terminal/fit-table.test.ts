import { describe, expect, it } from 'vitest'
import { fitTable, textTable } from '../../../src/cli/terminal/table.js'

const TABLE = {
  head: ['symbol', 'price', 'note', 'volume'],
  rows: [
    ['BTCUSDT', '93576.00000000', 'a text that is rather long', '1.00000000'],
    ['X', '1.00000000', '-', '12345678.12345678'],
  ],
  right: ['price', 'volume'],
}

/** The longest line of a table. */
const widthOf = (table: typeof TABLE) =>
  Math.max(
    ...textTable(table)
      .split('\n')
      .map(line => line.length),
  )

describe('fitTable', () => {
  it('changes nothing where there is room', () => {
    expect(fitTable(TABLE, 70)).toEqual({ table: TABLE, omitted: [] })
    expect(fitTable(TABLE, Number.POSITIVE_INFINITY)).toEqual({ table: TABLE, omitted: [] })
  })

  it('cuts texts first, and marks the cut', () => {
    const { table, omitted } = fitTable(TABLE, 60)
    expect(widthOf(table as typeof TABLE)).toBe(60)
    expect(table.rows.map(row => row[2])).toEqual(['a text that is …', '-'])
    expect(omitted).toEqual([])
  })

  it('never cuts a number: the last columns are left out instead', () => {
    const { table, omitted } = fitTable(TABLE, 50)
    expect(table.head).toEqual(['symbol', 'price', 'note'])
    expect(table.rows[0]).toEqual(['BTCUSDT', '93576.00000000', 'a text that…'])
    expect(omitted).toEqual(['volume'])
    expect(fitTable(TABLE, 5).omitted).toEqual(['price', 'note', 'volume'])
  })
})
