import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fitTable, splitColumns, textTable } from '../../../src/cli/terminal/table.js'
import { timeBox } from '../../support/full.js'

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

describe('texts that tell rows apart', () => {
  it('are not cut before they differ', () => {
    const rows = [
      ['2025-01-01T00:00:00.000Z', 'a long text of the first row', '1.5'],
      ['2025-01-01T01:00:00.000Z', 'a long text of the other row', '2.5'],
    ]
    const { table, omitted } = fitTable({ head: ['time', 'note', 'n'], rows, right: ['n'] }, 40)
    expect(table.rows.map(([time]) => time)).toEqual(['2025-01-01T00…', '2025-01-01T01…'])
    expect(table.rows.map(([, note]) => note)).toEqual(['a long text of the f…', 'a long text of the o…'])
    expect(omitted).toEqual(['n'])
  })

  it('differ in every table, however narrow', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc
        .tuple(fc.constantFrom('https://example.com/a/long/path/', '币安人生币安人生'), fc.string({ maxLength: 4 }))
        .map(parts => parts.join('')),
    )
    const property = fc.property(
      fc.array(text, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 60 }),
      (texts, width) => {
        const { table } = fitTable({ head: ['text', 'other'], rows: texts.map(one => [one, 'x']) }, width)
        expect(new Set(table.rows.map(([one]) => one)).size).toBe(new Set(texts).size)
      },
    )
    fc.assert(property, timeBox(3_000))
  })
})

describe('splitColumns', () => {
  it('keeps one table where it fits, and else shows every column once, behind the keys', () => {
    expect(splitColumns(TABLE, 70, 1)).toEqual([[0, 1, 2, 3]])
    expect(splitColumns(TABLE, 52, 1)).toEqual([
      [0, 1, 2],
      [0, 3],
    ])
    expect(splitColumns(TABLE, 52, 1, [['volume', 'price'], ['note']])).toEqual([
      [0, 3, 1],
      [0, 2],
    ])
    expect(splitColumns(TABLE, 1, 1)).toEqual([
      [0, 1],
      [0, 2],
      [0, 3],
    ])
  })
})
