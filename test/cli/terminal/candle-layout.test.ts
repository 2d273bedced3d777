import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type LayoutColumn, layOutColumns } from '../../../src/cli/terminal/candle-layout.js'
import { cases } from '../../support/cases.js'

const decimal = fc
  .tuple(
    fc.bigInt({ min: 0n, max: 10n ** 13n }),
    fc.integer({ min: 0, max: 99_999_999 }),
    fc.integer({ min: 0, max: 8 }),
  )
  .map(([whole, fraction, digits]) => {
    const end = String(fraction).padStart(8, '0').slice(0, digits)
    return end === '' ? String(whole) : `${whole}.${end}`
  })
const tables = fc.integer({ min: 1, max: 8 }).chain(rows => {
  const cells = fc.array(decimal, { minLength: rows, maxLength: rows })
  const column = fc.record({ head: fc.constantFrom('open', 'volume', 'quote_volume'), cells })
  return fc.array(column, { minLength: 1, maxLength: 6 })
})

/** Where the whole digits of the numbers of a line end. */
const points = (line: string) => [...line.matchAll(/(?<![\d.])\d+/g)].map(found => found.index + found[0].length)

describe('a layout of numbers', () => {
  it('cuts no digit, aligns the decimal points, and fits unless one column alone is too wide', () => {
    const property = fc.property(tables, fc.integer({ min: 10, max: 140 }), (texts, width) => {
      const columns: LayoutColumn[] = texts.map(({ cells }, index) => ({ head: `c${index}`, cells, isNumber: true }))
      const { text, hidden } = layOutColumns(columns, width)
      const [head, ...lines] = text.split('\n')
      const count = columns.length - hidden
      expect(head.split(/ +/).filter(Boolean)).toEqual(columns.slice(0, count).map(one => one.head))
      expect(lines).toHaveLength(columns[0].cells.length)
      for (const [row, line] of lines.entries()) {
        if (count > 1) expect(line.length).toBeLessThanOrEqual(width)
        for (const [index, shown] of line.trim().split(/ +/).entries()) {
          const source = columns[index].cells[row]
          // What is gone is zeros behind the point, or a point with nothing but zeros.
          expect(source.startsWith(shown)).toBe(true)
          expect(source.slice(shown.length)).toMatch(/^\.?0*$/)
          if (source !== shown) expect(source).toContain('.')
        }
        expect(points(line)).toEqual(points(lines[0]))
      }
    })
    fc.assert(property, { numRuns: cases(2000, 300) })
  })
})

const column = (head: string, cells: string[], isNumber = true): LayoutColumn => ({ head, cells, isNumber })
const PRICES = [column('time', ['2024-01-31', '2024-02-01'], false), column('open', ['9.50000000', '12345.60000000'])]

it('all digits of the source are shown where they fit; else the zeros go that all rows have', () => {
  expect(layOutColumns(PRICES, 26)).toEqual({
    text: ['time                  open', '2024-01-31      9.50000000', '2024-02-01  12345.60000000'].join('\n'),
    hidden: 0,
  })
  expect(layOutColumns(PRICES, 25).text).toBe('time           open\n2024-01-31      9.5\n2024-02-01  12345.6')
  expect(layOutColumns(PRICES, 18).text).toBe('time          open\n2024-01-31     9.5\n2024-02-01 12345.6')
  expect(layOutColumns(PRICES, 17)).toEqual({ text: 'time\n2024-01-31\n2024-02-01', hidden: 1 })
  expect(layOutColumns(PRICES, 3).hidden).toBe(1)
})

it('letters of two columns count as two', () => {
  const { text } = layOutColumns([column('symbol', ['币安人生USDT', 'X'], false), column('n', ['1', '22'])], 80)
  expect(text).toBe('symbol         n\n币安人生USDT   1\nX             22')
})
