import { describe, expect, it } from 'vitest'
import { splitColumns } from '../../../src/cli/terminal/table.js'

const TABLE = {
  head: ['symbol', 'price', 'note', 'volume'],
  rows: [
    ['BTCUSDT', '93576.00000000', 'a text that is rather long', '1.00000000'],
    ['X', '1.00000000', '-', '12345678.12345678'],
  ],
}

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
